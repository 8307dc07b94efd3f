internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// A stream over a descriptor: a UNIX-domain socket, one end of a pipe, or any other stream socket.
final class UVPipe: UVStream {
    enum Kind {
        /// A socket of which this stream is the only user in this process.
        case connection
        /// A socket. A shutdown of a socket tells the peer that nothing follows.
        case socket
        /// A pipe. The reader of a pipe learns that nothing follows only when the write end is closed.
        case pipe
        /// The master side of a pseudo-terminal.
        case terminal
    }

    private let kind: Kind
    /// The descriptor of which this stream uses a copy, if `shutdownWrite` has to end that descriptor too.
    var original: CInt?

    init(_ driver: UVLoop, _ kind: Kind) throws(SystemError) {
        self.kind = kind
        try unsafe super.init(driver, UV_NAMED_PIPE, "pipe") { loop, pipe in
            driver.makeStream { unsafe uv_pipe_init(loop, pipe, 0) }
        }
    }

    /// Creates a stream that takes over a descriptor. Puts the descriptor into non-blocking mode. If this
    /// throws, the caller keeps the descriptor.
    convenience init(_ driver: UVLoop, adopting descriptor: CInt, _ kind: Kind = .connection)
        throws(SystemError)
    {
        driver.claim(descriptor)
        try self.init(driver, kind)
        try closeUnlessDone(unsafe uv_pipe_open(memory(as: uv_pipe_t.self), descriptor), "adopt")
    }

    /// Ends the write side. The reader of a pipe finds the end when no descriptor has the pipe open for
    /// writing.
    override func shutdownWrite() {
        if kind == .terminal { return shutDownTerminal() }
        guard kind == .pipe else { return super.shutdownWrite() }
        if let descriptor { replaceByNothing(descriptor) }
        if let original { replaceByNothing(original) }
        answerLater { $0.didShutDown(0) }
    }

    /// Types Ctrl-D, which a program that reads line by line takes for the end of its input.
    private func shutDownTerminal() {
        var end: UInt8 = 4
        if let descriptor { unsafe _ = Glibc.write(descriptor, &end, 1) }
        answerLater { $0.didShutDown(0) }
    }

    /// A read of the master side fails when no program has the terminal open any more.
    override var ends: [CInt] { kind == .terminal ? super.ends + [-EIO] : super.ends }

    /// Whether closing may lose data. `false` for a copy, because the original descriptor keeps the
    /// connection.
    override var losesIfNotHeardOut: Bool { original == nil && super.losesIfNotHeardOut }

    /// Closes the descriptor. With `resetting`, first shuts a connection down, so that the peer learns of the end even
    /// if other processes have copies of the descriptor.
    override func close(resetting: Bool) {
        if resetting, kind == .connection, let descriptor, !isAdopted || lost == nil {
            shutdown(descriptor, CInt(SHUT_RDWR))
        }
        super.close(resetting: resetting)
    }
}
