internal import CFuturesSystem
internal import Glibc

/// The protection of the process from SIGPIPE. libuv's writes raise this signal when the peer has gone.
enum BrokenPipes {
    /// Ignores SIGPIPE in the process and blocks it on the calling thread. Returns `false`, and changes nothing, if the
    /// process has a handler for it.
    static func ignore() -> Bool {
        if effect(of: SIGPIPE).handler > 1 { return false }
        _ = signal(SIGPIPE, SIG_IGN)
        block_broken_pipes()
        return true
    }

    /// Unblocks SIGPIPE on the calling thread, because a watch waits for this signal.
    static func unblock() {
        // Discards a signal that came while it was blocked.
        _ = signal(SIGPIPE, SIG_IGN)
        let_broken_pipes_through()
    }
}
