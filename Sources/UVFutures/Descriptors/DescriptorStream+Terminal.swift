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

    /// The current size of the terminal's window; 0 by 0 if unknown. It changes with ``ProcessSignal/windowChange``.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if this is not a terminal, ``UVError`` if it is gone.
    /// Binds [`uv_tty_get_winsize`](https://docs.libuv.org/en/v1.x/tty.html).
    public var windowSize: WindowSize {
        get throws {
            let (columns, rows) = try terminal("windowSize").size()
            return WindowSize(columns: columns, rows: rows)
        }
    }

    /// Makes each key come at once, without echo, and Ctrl-C as a byte. With `false`, input comes line by line, as it
    /// does at first.
    ///
    /// Closing the stream and the exit of the process restore the terminal's former mode. A signal that kills the
    /// process does not: wait for it with `loop.signal(_:)`, and return.
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if this is not a terminal, ``UVError`` if it is gone.
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

    private func terminal(_ call: String) throws -> UVTerminal {
        core.checkThread()
        guard let terminal = carriedTerminal else {
            throw FutureError.invalidArgument("\(call) was asked of a \(kind), which is no terminal")
        }
        return terminal
    }
}
