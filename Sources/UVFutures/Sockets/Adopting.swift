public import ByteStreams
public import Futures

extension SocketListener {
    /// Takes over `descriptor`, which somebody else has bound and made listen: a parent process, say.
    ///
    /// From now on it belongs to the listener, which closes it, does not block, and is not passed on to programs that
    /// this process starts. Descriptors 0 to 2 get another number, and `/dev/null` takes their place. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if it is not open, no socket, does not listen, has been
    /// adopted before, or is of another kind than `Connection`; the descriptor stays the caller's then.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        let socket = try UVListener.adopting(
            descriptor, called: "descriptor \(descriptor)", families: Connection.families, on: loop)
        self.init(socket, limits: limits)
    }

    /// Gives the socket up without closing it, and ends this listener. Connections that wait in it go on to wait.
    ///
    /// The descriptor, which does not block, is the caller's. What waits for a connection is cancelled.
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` if the listener has been closed.
    public func release() throws -> Int32 {
        loop.core.checkThread()
        guard let descriptor = acceptor.release() else { throw StreamError.connectionClosed }
        close()
        return descriptor
    }
}

extension SocketServer {
    /// Listens on `descriptor` too, which somebody else has bound and made listen, as
    /// ``SocketListener/init(adopting:limits:on:)`` does. Returns where.
    @discardableResult
    public func listen(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(descriptor, called: "descriptor \(descriptor)", limits)
    }

    /// Listens on a socket that systemd has passed: ``Systemd/sockets()``. Returns where.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` as ``listen(adopting:limits:)`` does; the text says the
    /// name of the socket.
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

    /// Gives the sockets up without closing them, in the order in which they were added, and stops accepting, as
    /// ``close()`` does. Connections that wait in them go on to wait, for a successor, say.
    ///
    /// The descriptors, which do not block, are the caller's.
    public func releaseSockets() -> [Int32] {
        loop.core.checkThread()
        let descriptors = acceptors.compactMap { $0.release() }
        close()
        return descriptors
    }
}

extension SocketConnection {
    /// Gives the socket up without ending the connection, and ends this object as ``ByteStreams/ByteStream/close(within:)``
    /// does. The descriptor, which does not block, is the caller's, with the bytes that wait in the system.
    ///
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` after a close, with
    /// ``Futures/FutureError/invalidArgument(_:)`` while a read or a write is pending or bytes that have arrived are
    /// unread, and with ``UVError`` without descriptors; nothing has changed then.
    public final func release() throws -> Int32 {
        loop.core.checkThread()
        try checkAtRest()
        let descriptor = try socket.duplicate()
        letGo()
        return descriptor
    }
}
