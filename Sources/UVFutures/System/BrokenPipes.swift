internal import CLibUV
internal import Glibc

/// What keeps SIGPIPE, which comes of a write to a peer that has gone, from ending the process: libuv's writes bring it.
enum BrokenPipes {
    /// Ignores it in the process and blocks it on the calling thread. `false`, and nothing is changed, if the process
    /// has a handler for it.
    static func ignore() -> Bool {
        if effect(of: SIGPIPE).handler > 1 { return false }
        _ = signal(SIGPIPE, SIG_IGN)
        block_broken_pipes()
        return true
    }

    /// Lets what comes from now on through to the calling thread: somebody watches it.
    static func unblock() {
        // What has come is forgotten.
        _ = signal(SIGPIPE, SIG_IGN)
        let_broken_pipes_through()
    }
}
