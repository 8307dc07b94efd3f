public import ByteStreams
public import Futures

extension SocketListener {
    /// Takes over `descriptor`, a listening socket of other code. For example, a parent process has made the
    /// socket listen.
    ///
    /// From now on the listener owns the descriptor, and closes it. The descriptor is put into non-blocking mode, and
    /// programs that this process starts do not inherit it. If the descriptor is 0, 1 or 2, the socket gets another
    /// number, and `/dev/null` takes the old number.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not open, is not a socket, or does
    /// not listen. Fails with the same error if the descriptor has been adopted before, or is of a different kind from
    /// `Connection`. After a failure, the caller keeps the descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        let socket = try UVListener.adopting(
            descriptor, called: "descriptor \(descriptor)", families: Connection.families, on: loop)
        self.init(socket, limits: limits)
    }

    /// Gives up the socket without closing it, and ends this listener. Connections that wait to be accepted keep
    /// waiting in the socket.
    ///
    /// The caller owns the returned descriptor, which is in non-blocking mode. Futures that wait for a connection are
    /// cancelled.
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` if the listener has been closed.
    public func release() throws -> Int32 {
        core.checkThread()
        guard let descriptor = acceptor.release() else { throw StreamError.connectionClosed }
        close()
        return descriptor
    }
}

extension SocketServer {
    /// Also accepts connections on `descriptor`, a socket that listens already. Takes over the descriptor as
    /// ``SocketListener/init(adopting:limits:on:)`` does. Returns the address of the socket.
    @discardableResult
    public func listen(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(descriptor, "descriptor \(descriptor)", limits)
    }

    /// Listens on a socket that systemd has passed: ``Systemd/sockets()``. Returns the address of the socket.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` as ``listen(adopting:limits:)`` does. The text of the
    /// error names the socket.
    @discardableResult
    public func listen(
        on socket: ActivatedSocket, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(socket.descriptor, "\(socket)", limits)
    }

    private func adopt(_ descriptor: Int32, _ name: String, _ limits: StreamLimits) throws -> SocketAddress {
        try serve(limits) {
            try .adopting(descriptor, called: name, families: Connection.families, on: loop)
        }
    }

    /// Gives up the sockets without closing them, and stops accepting, as ``close()`` does. Returns the descriptors in
    /// the order in which the sockets were added. Connections that wait to be accepted keep waiting in the sockets, for
    /// example for a successor of this server.
    ///
    /// The caller owns the descriptors, which are in non-blocking mode.
    public func releaseSockets() -> [Int32] {
        core.checkThread()
        let descriptors = acceptors.compactMap { $0.release() }
        close()
        return descriptors
    }
}

extension SocketConnection {
    /// Gives up the socket without ending the connection. This object ends as after
    /// ``ByteStreams/ByteStream/close(within:)``.
    ///
    /// The caller owns the returned descriptor, which is in non-blocking mode. Bytes that have not been read from the
    /// system yet stay in the socket.
    ///
    /// Fails with ``ByteStreams/StreamError/connectionClosed`` if the connection has been closed. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` while a read or a write is pending. Fails with the same error if the
    /// stream holds bytes that have not been read.
    /// Fails with ``UVError`` if no descriptors are left. After a failure nothing has changed.
    public final func release() throws -> Int32 {
        core.checkThread()
        try checkAtRest()
        let descriptor = try socket.duplicate()
        letGo()
        return descriptor
    }
}
