internal import CFuturesSystem
internal import Futures
internal import Glibc

/// The terminals in raw mode, and their former modes.
package enum TerminalModes {
    private static let former = Locked(FormerModes<termios>())

    static func setRaw(_ descriptor: CInt) throws(SystemError) {
        var mode = termios()
        guard unsafe tcgetattr(descriptor, &mode) == 0 else { throw failure() }
        let before = mode
        unsafe cfmakeraw(&mode)
        guard unsafe tcsetattr(descriptor, TCSADRAIN, &mode) == 0 else { throw failure() }
        former.withLock { $0.keep(before, of: descriptor) { TerminalModes.restoreAll() } }
    }

    /// Restores the former mode. Does nothing if the terminal is not raw.
    package static func restore(_ descriptor: CInt) {
        guard var before = former.withLock({ $0.take(descriptor) }) else { return }
        unsafe tcsetattr(descriptor, TCSADRAIN, &before)
    }

    private static func restoreAll() {
        for (descriptor, before) in former.withLock({ $0.all }) {
            var before = before
            unsafe tcsetattr(descriptor, TCSANOW, &before)
        }
    }

    private static func failure() -> SystemError { SystemError(-errno, "terminal mode") }
}
