internal import Futures
internal import Glibc

/// The terminals in raw mode, and how they were before: at the exit of the process they are made so again.
enum TerminalModes {
    private struct Terminals {
        var before: [CInt: termios] = [:]
        var isRegistered = false
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
            guard !terminals.isRegistered else { return }
            terminals.isRegistered = true
            atexit { TerminalModes.restoreAll() }
        }
    }

    /// Does nothing if it is not raw.
    static func restore(_ descriptor: CInt) {
        guard var before = terminals.withLock({ $0.before.removeValue(forKey: descriptor) }) else { return }
        unsafe tcsetattr(descriptor, TCSADRAIN, &before)
    }

    private static func restoreAll() {
        let all = terminals.withLock { Array($0.before) }
        for (descriptor, before) in all {
            var before = before
            unsafe tcsetattr(descriptor, TCSANOW, &before)
        }
    }

    private static func failure() -> UVError { UVError(-errno, "terminal mode", local: nil, peer: nil) }
}
