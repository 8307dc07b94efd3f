public import ByteStreams
internal import CFuturesSystem
public import Futures
internal import Glibc

extension TCPConnection {
    /// Creates a connection that takes over `descriptor`, a connected TCP socket that other code has made.
    ///
    /// From now on, the connection owns the descriptor. The descriptor is put into non-blocking mode, and
    /// programs that this process starts do not inherit it. If the descriptor is 0, 1 or 2, the socket moves
    /// to a higher number, and the old number then stands for `/dev/null`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not a connected TCP socket, belongs to
    /// a connection already, or is watched on this loop. If this initializer throws, the caller keeps the descriptor.
    ///
    /// No other code may close the descriptor. If other code closes it, the next read, queued write or
    /// shutdown fails with ``SystemError/Code/badDescriptor``. If the system gives the same number to something new of
    /// this loop, pending operations of this connection fail in the same way, and the new use of the number is not
    /// disturbed. If the system gives the number to another file or socket, a write that the system accepts at once
    /// goes to that file or socket. Closing the connection does not close that file or socket, but reports the mistake
    /// to ``Futures/EventLoop/onUnhandledFailure``.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        let system = try loop.descriptorSystem()
        try requireArgument(
            fcntl(descriptor, F_GETFD) >= 0,
            "descriptor \(descriptor) is not open; give the descriptor of a connected TCP socket")
        let socket = try Self.adopt(descriptor, "a TCP socket", on: system)
        self.init(socket.tcpTransport!, limits: .of(limits, on: loop.core))
    }
}
