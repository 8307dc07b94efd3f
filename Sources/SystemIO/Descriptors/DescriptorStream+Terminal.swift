internal import ByteStreams
internal import Futures

extension DescriptorStream {
    /// The size of a terminal's window.
    public struct WindowSize: Hashable, Sendable {
        public let columns: Int
        public let rows: Int

        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The current size of the terminal's window, in characters. Both numbers are 0 if the size is unknown.
    /// When the size changes, the process gets ``ProcessSignal/windowChange``.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the stream is not a terminal. Throws ``SystemError``
    /// if the terminal does not exist any more. Throws ``ByteStreams/StreamError/connectionClosed`` if this
    /// side has closed the stream.
    /// Binds [`uv_tty_get_winsize`](https://docs.libuv.org/en/v1.x/tty.html).
    public var windowSize: WindowSize {
        get throws {
            let (columns, rows) = try terminal("windowSize").size()
            return WindowSize(columns: columns, rows: rows)
        }
    }

    /// Switches the terminal to raw mode: each key arrives at once, without echo, and Ctrl-C arrives as a byte.
    /// With `false`, restores the terminal's former mode, in which input usually arrives line by line.
    ///
    /// The former mode is also restored when the stream is closed, and when the process exits. A signal that
    /// ends the process does not restore the former mode. So catch such a signal with `loop.signal(_:)`, and
    /// then let the process exit normally.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the stream is not a terminal. Throws ``SystemError`` if
    /// the terminal does not exist any more. Throws ``ByteStreams/StreamError/connectionClosed`` if this side has
    /// closed the stream.
    ///
    /// ```swift
    /// let terminal = try loop.standardInput()
    /// try terminal.setRawMode(true)
    /// let key = terminal.read(exactly: 1)
    /// ```
    public func setRawMode(_ isRaw: Bool) throws {
        let terminal = try terminal("setRawMode(_:)")
        guard let descriptor = terminal.descriptor else { throw StreamError.connectionClosed }
        if isRaw { try TerminalModes.setRaw(descriptor) } else { TerminalModes.restore(descriptor) }
    }

    private func terminal(_ call: String) throws -> any TerminalCarrier {
        core.checkThread()
        guard let terminal = carrier as? any TerminalCarrier else {
            throw FutureError.invalidArgument("\(call) needs a terminal, not a \(kind)")
        }
        return terminal
    }
}
