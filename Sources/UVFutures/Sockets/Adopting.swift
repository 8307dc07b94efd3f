public import ByteStreams
public import Futures

extension SocketListener {
    /// Takes over `descriptor`, a socket that other code, such as a parent process, has bound and made listen.
    ///
    /// The listener owns and closes the descriptor from now on. The descriptor does not block and is not passed on to
    /// programs that this process starts. Descriptors 0 to 2 get another number, and `/dev/null` takes their place.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not open, is not a socket, does not
    /// listen, has been adopted before, or is of another kind than `Connection`. The caller then keeps the descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        let socket = try UVListener.adopting(
            descriptor, called: "descriptor \(descriptor)", families: Connection.families, on: loop)
        self.init(socket, limits: limits)
    }

    /// Gives up the socket without closing it, and ends this listener. Connections that wait in the socket keep
    /// waiting.
    ///
    /// The caller owns the returned descriptor, which does not block. Pending waits for a connection are cancelled.
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` if the listener has been closed.
    public func release() throws -> Int32 {
        core.checkThread()
        guard let descriptor = acceptor.release() else { throw StreamError.connectionClosed }
        close()
        return descriptor
    }
}

extension SocketServer {
    /// Also listens on `descriptor`, which other code has bound and made listen, as
    /// ``SocketListener/init(adopting:limits:on:)`` does. Returns its address.
    @discardableResult
    public func listen(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(descriptor, called: "descriptor \(descriptor)", limits)
    }

    /// Listens on a socket that systemd has passed: ``Systemd/sockets()``. Returns its address.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` as ``listen(adopting:limits:)`` does. The text names the
    /// socket.
    @discardableResult
    public func listen(on socket: ActivatedSocket, limits: StreamLimits = StreamLimits()) throws
        -> SocketAddress
    {
        try adopt(socket.descriptor, called: "\(socket)", limits)
    }

    private func adopt(_ descriptor: Int32, called what: String, _ limits: StreamLimits) throws
        -> SocketAddress
    {
        try checkOpen()
        try limits.validate()
        let socket = try UVListener.adopting(
            descriptor, called: what, families: Connection.families, on: loop)
        add(socket, limits: limits)
        return socket.localAddress
    }

    /// Gives up the sockets without closing them, and stops accepting, as ``close()`` does. Returns the descriptors in
    /// the order in which the sockets were added. Connections that wait in the sockets keep waiting, for a successor,
    /// say.
    ///
    /// The caller owns the descriptors, which do not block.
    public func releaseSockets() -> [Int32] {
        core.checkThread()
        let descriptors = acceptors.compactMap { $0.release() }
        close()
        return descriptors
    }
}

extension SocketConnection {
    /// Gives up the socket without ending the connection, and ends this object as
    /// ``ByteStreams/ByteStream/close(within:)`` does. The caller owns the returned descriptor, which does not block,
    /// with the bytes that wait in the system.
    ///
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` after a close. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` while a read or a write is pending or bytes that have arrived are
    /// unread.
    /// Fails with ``UVError`` if no descriptors are left. After a failure nothing has changed.
    public final func release() throws -> Int32 {
        core.checkThread()
        try checkAtRest()
        let descriptor = try socket.duplicate()
        letGo()
        return descriptor
    }
}
