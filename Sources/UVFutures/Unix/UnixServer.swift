public import ByteStreams
public import Futures

/// A server of connections of the UNIX domain.
public typealias UnixServer = SocketServer<UnixConnection>

extension SocketServer where Connection == UnixConnection {
    /// Listens at `path`, as ``UnixListener`` does, and closes each connection when the future that `handler` returned
    /// for it completes.
    public static func listen<Ignored>(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        _ handler: @escaping (_ connection: UnixConnection) throws -> Future<Ignored>
    ) throws -> UnixServer {
        let server = UnixServer(on: loop, handler)
        try server.setAcceptLimits(accepting)
        try server.listen(path: path, permissions: permissions, backlog: backlog, limits: limits)
        return server
    }

    /// Listens at `path`, as ``UnixListener`` does. Each connection lives until it is closed.
    public static func listen(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        _ handler: @escaping (_ connection: UnixConnection) throws -> Void
    ) throws -> UnixServer {
        let server = UnixServer(on: loop, handler)
        try server.setAcceptLimits(accepting)
        try server.listen(path: path, permissions: permissions, backlog: backlog, limits: limits)
        return server
    }

    /// Listens at `path` too, as ``UnixListener`` does. Returns where.
    @discardableResult
    public func listen(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try listenUnix(path: path, permissions: permissions, backlog: backlog, limits: limits)
    }
}

extension SocketServer where Connection == SocketConnection {
    /// Listens at `path` too, for connections of the UNIX domain, as ``UnixListener`` does. Returns where.
    @discardableResult
    public func listen(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits()
    ) throws -> SocketAddress {
        try listenUnix(path: path, permissions: permissions, backlog: backlog, limits: limits)
    }
}

extension SocketServer {
    fileprivate func listenUnix(
        path: String, permissions: UInt32?, backlog: Int, limits: StreamLimits
    ) throws -> SocketAddress {
        try checkOpen()
        try limits.validate()
        let socket = try UVListener.listening(
            path: path, permissions: permissions, backlog: backlog, on: loop)
        add(socket, limits: limits)
        return socket.localAddress
    }
}
