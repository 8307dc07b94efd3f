public import Futures

/// A server of TCP connections.
public typealias TCPServer = SocketServer<TCPConnection>

extension SocketServer where Connection == TCPConnection {
    /// Listens on `port` of `host`, as ``TCPListener`` does, and returns the server. For each connection,
    /// `handler` returns a future. The server closes the connection when that future completes.
    public static func listen<Ignored>(
        host: String, port: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        _ handler: @escaping (_ connection: TCPConnection) throws -> Future<Ignored>
    ) throws -> TCPServer {
        try TCPServer(on: loop, handler).listening(host, port, options, accepting)
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, and returns the server. The server closes each
    /// connection when `handler` returns.
    ///
    /// Runs `handler` on the loop, in the same way as ``Futures/Future/init(on:isolation:_:)`` runs its body.
    /// You can write `handler` as a trailing closure, without the label `awaiting`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    public static func listen(
        host: String, port: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        isolation: (any Actor)? = #isolation,
        awaiting handler: @escaping (_ connection: TCPConnection) async throws -> Void
    ) throws -> TCPServer {
        try TCPServer(on: loop, isolation: isolation, awaiting: handler)
            .listening(host, port, options, accepting)
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, and returns the server. Each connection stays
    /// open until your code closes it.
    public static func listen(
        host: String, port: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        owning handler: @escaping (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServer {
        try TCPServer(on: loop, owning: handler)
            .listening(host, port, options, accepting)
    }

    /// Do not call this overload. It exists so that a call with a trailing closure that returns nothing is
    /// ambiguous and does not compile. Use a closure that returns a future, or write the label `owning:`.
    @available(*, deprecated, message: "Return the future of the handler's work, or write the label owning:")
    public static func listen(
        host: String, port: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), on loop: EventLoop,
        orReturnItsFuture handler: @escaping (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServer {
        try TCPServer(on: loop, owning: handler)
            .listening(host, port, options, accepting)
    }

    private func listening(
        _ host: String, _ port: Int, _ options: ListenOptions, _ accepting: AcceptLimits
    ) throws -> TCPServer {
        try setAcceptLimits(accepting)
        try listen(host: host, port: port, options: options)
        return self
    }

    /// Adds a socket that listens on `port` of `host`, as ``TCPListener`` does. Returns the address of the
    /// new socket. If `port` is 0, the address has the port that the system picked.
    @discardableResult
    public func listen(
        host: String, port: Int, options: ListenOptions = ListenOptions()
    ) throws -> SocketAddress {
        try serve(options.limits) { try loop.listeningSocket(host: host, port: port, options) }
    }
}

extension SocketServer where Connection == SocketConnection {
    /// Adds a socket that listens on `port` of `host` for TCP connections, as ``TCPListener`` does. Returns
    /// the address of the new socket. If `port` is 0, the address has the port that the system picked.
    @discardableResult
    public func listen(
        host: String, port: Int, options: ListenOptions = ListenOptions()
    ) throws -> SocketAddress {
        try serve(options.limits) { try loop.listeningSocket(host: host, port: port, options) }
    }
}
