public import Futures

/// A server of connections in the UNIX domain.
public typealias UnixServer = SocketServer<UnixConnection>

extension SocketServer where Connection == UnixConnection {
    /// Listens at `path`, as ``UnixListener`` does, and returns the server. For each connection, `handler`
    /// returns a future. The server closes the connection when that future completes.
    public static func listen<Ignored>(
        path: String, options: ListenOptions = ListenOptions(), accepting: AcceptLimits = AcceptLimits(),
        on loop: EventLoop,
        _ handler: @escaping (_ connection: UnixConnection) throws -> Future<Ignored>
    ) throws -> UnixServer {
        try UnixServer(on: loop, handler).listening(path, options, accepting)
    }

    /// Listens at `path`, as ``UnixListener`` does, and returns the server. The server closes each connection
    /// when `handler` returns.
    ///
    /// Runs `handler` on the loop, in the same way as ``Futures/Future/init(on:isolation:_:)`` runs its body.
    /// You can write `handler` as a trailing closure, without the label `awaiting`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    public static func listen(
        path: String, options: ListenOptions = ListenOptions(), accepting: AcceptLimits = AcceptLimits(),
        on loop: EventLoop, isolation: (any Actor)? = #isolation,
        awaiting handler: @escaping (_ connection: UnixConnection) async throws -> Void
    ) throws -> UnixServer {
        try UnixServer(on: loop, isolation: isolation, awaiting: handler)
            .listening(path, options, accepting)
    }

    /// Listens at `path`, as ``UnixListener`` does, and returns the server. Each connection stays open until
    /// your code closes it.
    public static func listen(
        path: String, options: ListenOptions = ListenOptions(), accepting: AcceptLimits = AcceptLimits(),
        on loop: EventLoop,
        owning handler: @escaping (_ connection: UnixConnection) throws -> Void
    ) throws -> UnixServer {
        try UnixServer(on: loop, owning: handler).listening(path, options, accepting)
    }

    /// Do not call this overload. It exists so that a call with a trailing closure that returns nothing is
    /// ambiguous and does not compile. Use a closure that returns a future, or write the label `owning:`.
    @available(*, deprecated, message: "Return the future of the handler's work, or write the label owning:")
    public static func listen(
        path: String, options: ListenOptions = ListenOptions(), accepting: AcceptLimits = AcceptLimits(),
        on loop: EventLoop,
        orReturnItsFuture handler: @escaping (_ connection: UnixConnection) throws -> Void
    ) throws -> UnixServer {
        try UnixServer(on: loop, owning: handler).listening(path, options, accepting)
    }

    private func listening(
        _ path: String, _ options: ListenOptions, _ accepting: AcceptLimits
    ) throws -> UnixServer {
        try setAcceptLimits(accepting)
        try listen(path: path, options: options)
        return self
    }

    /// Adds a socket that listens at `path`, as ``UnixListener`` does. Returns the address of the new socket.
    @discardableResult
    public func listen(
        path: String, options: ListenOptions = ListenOptions()
    ) throws -> SocketAddress {
        try serve(options.limits) { try loop.listeningSocket(path: path, options) }
    }
}

extension SocketServer where Connection == SocketConnection {
    /// Adds a socket that listens at `path` for connections in the UNIX domain, as ``UnixListener`` does.
    /// Returns the address of the new socket.
    ///
    /// ```swift
    /// let server = SocketServer<SocketConnection>(on: loop) { connection in
    ///     connection.forEachChunk { chunk in connection.write(chunk) }
    /// }
    /// try server.listen(host: "127.0.0.1", port: 7007)
    /// try server.listen(path: "/run/echo.sock")
    /// ```
    @discardableResult
    public func listen(
        path: String, options: ListenOptions = ListenOptions()
    ) throws -> SocketAddress {
        try serve(options.limits) { try loop.listeningSocket(path: path, options) }
    }
}
