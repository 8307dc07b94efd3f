public import ByteStreams
internal import CFuturesSystem
public import Futures
internal import Glibc

extension SocketListener {
    /// Creates a listener that takes over `descriptor`, a socket that listens already, for example one that a
    /// parent process has made.
    ///
    /// From now on, the listener owns the descriptor, and closes it. The descriptor is put into non-blocking
    /// mode, and programs that this process starts do not inherit it. If the descriptor is 0, 1 or 2, the
    /// socket moves to a higher number, and the old number then stands for `/dev/null`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not open, is not a socket, or does
    /// not listen. Throws the same error if the descriptor belongs to a listener or a server already, if it is
    /// watched on this loop, or if the socket is of the wrong kind for this listener, for example if a
    /// ``TCPListener`` is given a UNIX socket. If this initializer throws, the caller keeps the descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        try self.init(
            Connection.adoptListener(descriptor, "descriptor \(descriptor)", on: loop), limits: limits)
    }

    /// Returns the descriptor of the socket to the caller, and ends this listener. The socket stays open.
    /// Connections that wait to be accepted keep waiting in the socket.
    ///
    /// The caller owns the returned descriptor, which is in non-blocking mode. Pending futures of `accept()`
    /// are cancelled.
    /// Throws ``ByteStreams/StreamError/connectionClosed`` if the listener has been closed.
    public func release() throws -> Int32 {
        core.checkThread()
        guard let descriptor = acceptor.release() else { throw StreamError.connectionClosed }
        close()
        return descriptor
    }
}

extension SocketServer {
    /// Adds `descriptor`, a socket that listens already, to the sockets of this server. Returns the address of
    /// the socket.
    ///
    /// The server takes over the descriptor. The rules and the errors are those of
    /// ``SocketListener/init(adopting:limits:on:)``.
    @discardableResult
    public func listen(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(descriptor, "descriptor \(descriptor)", limits)
    }

    /// Makes this server also listen on `socket`, which systemd has passed to this process
    /// (``Systemd/sockets()``). Returns the address of the socket.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` in the same cases as ``listen(adopting:limits:)``.
    /// The text of the error names the socket.
    @discardableResult
    public func listen(
        on socket: ActivatedSocket, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try adopt(socket.descriptor, "\(socket)", limits)
    }

    private func adopt(_ descriptor: Int32, _ name: String, _ limits: StreamLimits) throws -> SocketAddress {
        try serve(limits) { try Connection.adoptListener(descriptor, name, on: loop) }
    }

    /// Stops accepting, and returns the descriptors of the sockets, in the order in which the sockets were added.
    /// The sockets stay open. Connections that wait to be accepted keep waiting in the sockets, for example for
    /// another process that takes over from this server. Connections that have been accepted stay open, as after
    /// ``close()``.
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
    /// Takes over a socket that listens already, for connections of this class. `name` is for error texts.
    fileprivate static func adoptListener(
        _ descriptor: CInt, _ name: String, on loop: EventLoop
    ) throws -> any ListenerSocket {
        let system = try loop.descriptorSystem()
        func refusal(_ text: String) -> FutureError { .invalidArgument("\(name) \(text)") }

        let type = try typeOfSocket(descriptor, called: name, "that listens")
        guard type == CInt(SOCK_STREAM.rawValue) else {
            throw refusal("is a socket for messages, not a stream socket; give one of type SOCK_STREAM")
        }
        guard socketOption(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw refusal("is a socket that does not listen; call listen() on it before")
        }
        guard let address = try SocketAddress.local(of: descriptor, "adopt") else {
            throw refusal("is a socket of neither TCP nor the UNIX domain")
        }
        guard families.contains(address.family) else {
            let kind = address.family == AF_UNIX ? "the UNIX domain" : "TCP"
            throw refusal(
                "is a socket of \(kind) (\(address)), which this server or listener does not accept")
        }
        return try system.adopt(descriptor, listeningOn: address)
    }

    /// Takes over a connected socket, for a connection of this class. `kind` is for error texts.
    static func adopt(
        _ descriptor: CInt, _ kind: String, on system: any DescriptorSystem
    ) throws -> any SocketTransport {
        func refusal(_ text: String) -> FutureError {
            .invalidArgument("descriptor \(descriptor) is \(text)")
        }
        guard let local = try SocketAddress.local(of: descriptor, "adopt"), families.contains(local.family)
        else { throw refusal("not \(kind); give one that is connected") }
        guard let peer = try SocketAddress.peer(of: descriptor, "adopt") else {
            throw refusal("a socket that is not connected; connect it before")
        }
        return try system.adopt(descriptor, local: local, peer: peer)
    }

    /// Returns the descriptor of the socket to the caller, without ending the connection. After that, this object
    /// behaves as after ``ByteStreams/ByteStream/close(within:)``.
    ///
    /// The caller owns the returned descriptor, which is in non-blocking mode. Bytes that are still in the
    /// socket, because this stream has not read them yet, stay there.
    ///
    /// Throws ``ByteStreams/StreamError/connectionClosed`` if the connection has been closed. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if a read or a write is pending, or if the stream holds bytes
    /// that have not been read. Throws ``SystemError`` if no descriptors are left. If this function throws, nothing
    /// has changed.
    public final func release() throws -> Int32 {
        core.checkThread()
        try checkAtRest()
        let descriptor = try socket.duplicate()
        letGo()
        return descriptor
    }
}
