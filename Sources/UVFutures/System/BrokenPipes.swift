internal import CLibUV
internal import Glibc

/// Keeps SIGPIPE from ending the process. libuv's writes raise it when the peer has gone.
enum BrokenPipes {
    /// Ignores SIGPIPE in the process and blocks it on the calling thread. Returns `false`, and changes nothing, if the
    /// process has a handler for it.
    static func ignore() -> Bool {
        if effect(of: SIGPIPE).handler > 1 { return false }
        _ = signal(SIGPIPE, SIG_IGN)
        block_broken_pipes()
        return true
    }

    /// Lets SIGPIPE through to the calling thread from now on, because something watches it.
    static func unblock() {
        // What has come is forgotten.
        _ = signal(SIGPIPE, SIG_IGN)
        let_broken_pipes_through()
    }
}
