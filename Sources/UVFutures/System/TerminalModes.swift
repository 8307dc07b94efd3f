internal import Futures
internal import Glibc

/// The terminals in raw mode, with their former modes, which the exit of the process restores.
enum TerminalModes {
    private struct Terminals {
        var before: [CInt: termios] = [:]
        /// The value of `ForkWatch.count` when the end of the process was first to be noticed.
        var registered: Int?
    }

    private static let terminals = Locked(Terminals())

    static func setRaw(_ descriptor: CInt) throws(UVError) {
        var mode = termios()
        guard unsafe tcgetattr(descriptor, &mode) == 0 else { throw failure() }
        let before = mode
        unsafe cfmakeraw(&mode)
        guard unsafe tcsetattr(descriptor, TCSADRAIN, &mode) == 0 else { throw failure() }
        terminals.withLock { terminals in
            if terminals.before[descriptor] == nil { terminals.before[descriptor] = before }
            guard terminals.registered != ForkWatch.count else { return }
            terminals.registered = ForkWatch.start()
            terminals.before = [descriptor: before]
            atexit { TerminalModes.restoreAll() }
        }
    }

    /// Restores the former mode. Does nothing if the terminal is not raw.
    static func restore(_ descriptor: CInt) {
        guard var before = terminals.withLock({ $0.before.removeValue(forKey: descriptor) }) else { return }
        unsafe tcsetattr(descriptor, TCSADRAIN, &before)
    }

    private static func restoreAll() {
        // They are the parent's, too, of a child that came out of a fork.
        let all = terminals.withLock { $0.registered == ForkWatch.count ? Array($0.before) : [] }
        for (descriptor, before) in all {
            var before = before
            unsafe tcsetattr(descriptor, TCSANOW, &before)
        }
    }

    private static func failure() -> UVError { UVError(-errno, "terminal mode", local: nil, peer: nil) }
}
