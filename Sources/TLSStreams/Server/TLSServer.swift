public import ByteStreams
public import Futures
public import SystemIO

/// A server of encrypted connections. It passes each connection to a handler when its handshake is complete. The server
/// lives until it is closed, even if there are no references to it.
///
/// There are three kinds of handlers, as for a ``UVFutures/SocketServer``: one returns a future, one is `async`
/// (`awaiting`), and one owns the connection (`owning`).
///
/// ```swift
/// let server = try TLSServer.listen(host: "127.0.0.1", port: 7443, context: context) { connection in
///     connection.forEachChunk { chunk in connection.write(chunk) }
/// }
/// ```
public final class TLSServer {
    /// The server of the underlying TCP connections. It counts connections, limits how many are accepted, and can
    /// listen on several sockets. Connections whose handshake is under way count, too.
    public let tcp: TCPServer
    private let acceptance: TLSAcceptance

    private init(
        _ context: TLSContext, _ limits: StreamLimits, _ handshakes: TLSHandshakeLimits,
        _ handler: @escaping (TLSConnection) throws -> Future<Void>?
    ) throws {
        guard case .server = context.role else {
            throw FutureError.invalidArgument(
                "a TLSServer was given the context of a client; give one made by TLSContext.server")
        }
        try limits.validate()
        let acceptance = try TLSAcceptance(context, limits, handshakes, handler)
        self.acceptance = acceptance
        tcp = TCPServer(on: context.loop, owning: { acceptance.accept($0) })
        tcp.expectsGreetings = true
        acceptance.server = tcp
    }

    /// Creates a server that does not listen yet. To listen, call
    /// ``listen(host:port:options:)`` or ``listen(on:)``. For each connection, `handler` returns a future. The
    /// server closes the connection when that future completes, and aborts it when the future fails.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if limits are out of range, or if `context` is a client's.
    public convenience init<Ignored>(
        context: TLSContext, limits: StreamLimits = StreamLimits(),
        handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        _ handler: @escaping (_ connection: TLSConnection) throws -> Future<Ignored>
    ) throws {
        try self.init(context, limits, handshakes) { try handler($0).given(to: $0.core).map { _ in } }
    }

    public var loop: EventLoop { tcp.loop }
    /// The server's context. Reload it to change certificates.
    public var context: TLSContext { acceptance.context }
    /// The address on which the server listens.
    public var localAddress: SocketAddress { tcp.localAddress }
    /// The number of open connections, including those whose handshake is under way.
    public var activeConnections: Int { tcp.activeConnections }
    /// Counts of the server's handshakes.
    public var handshakes: TLSHandshakeStatistics { acceptance.statistics }

    /// A closure that gets the errors of handlers and of closing connections: see
    /// ``UVFutures/SocketServer/onConnectionError``. If it is `nil`, ``Futures/EventLoop/onUnhandledFailure`` gets
    /// them.
    public var onConnectionError: ((any Error) -> Void)? {
        get { tcp.onConnectionError }
        set { tcp.onConnectionError = newValue }
    }

    /// A closure that gets the errors of failed handshakes, at most one a minute for each reason. ``handshakes`` counts
    /// all of them. The loop's observer also gets them, as warnings. To log each one, encrypt in the handler of a
    /// ``UVFutures/TCPServer``, by ``ByteStreams/ByteStream/startTLS(server:limits:timeout:)``.
    public var onHandshakeFailure: ((any Error) -> Void)? {
        get { acceptance.onHandshakeFailure }
        set { withExtendedLifetime(exchange(&acceptance.onHandshakeFailure, with: newValue)) {} }
    }

    // MARK: Listening

    /// Listens on `port` of `host`, as ``UVFutures/TCPListener`` does, and returns the server. For each connection,
    /// `handler` returns a future. The server closes the connection when that future completes, and aborts it when the
    /// future fails.
    ///
    /// Throws the errors of ``UVFutures/SocketServer/listen(host:port:options:accepting:on:_:)``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `handshakes` are out of range, or if `context` is a client's.
    public static func listen<Ignored>(
        host: String, port: Int, context: TLSContext, options: ListenOptions = ListenOptions(),
        handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        accepting: AcceptLimits = AcceptLimits(),
        _ handler: @escaping (_ connection: TLSConnection) throws -> Future<Ignored>
    ) throws -> TLSServer {
        try TLSServer(context: context, limits: options.limits, handshakes: handshakes, handler)
            .listening(host, port, options, accepting)
    }

    /// Listens on `port` of `host`, and returns the server. The server closes each connection when `handler` returns,
    /// and aborts it when `handler` throws.
    ///
    /// Runs `handler` on the loop, in the same way as ``Futures/Future/init(on:isolation:_:)`` runs its body. You can
    /// write `handler` as a trailing closure, without the label `awaiting`. Do not pass `isolation`. Throws the same
    /// errors as the `listen` whose handler returns a future.
    public static func listen(
        host: String, port: Int, context: TLSContext, options: ListenOptions = ListenOptions(),
        handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        accepting: AcceptLimits = AcceptLimits(), isolation: (any Actor)? = #isolation,
        awaiting handler: @escaping (_ connection: TLSConnection) async throws -> Void
    ) throws -> TLSServer {
        try TLSServer(context, options.limits, handshakes) { connection in
            Future(on: connection.loop, isolation: isolation, for: connection, endsWithWork: true) {
                try await handler(connection)
            }
        }
        .listening(host, port, options, accepting)
    }

    /// Listens on `port` of `host`, and returns the server. Each connection stays open until your code closes it.
    /// Throws the same errors as the `listen` whose handler returns a future.
    public static func listen(
        host: String, port: Int, context: TLSContext, options: ListenOptions = ListenOptions(),
        handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        accepting: AcceptLimits = AcceptLimits(),
        owning handler: @escaping (_ connection: TLSConnection) throws -> Void
    ) throws -> TLSServer {
        try TLSServer(context, options.limits, handshakes) {
            try handler($0)
            return nil
        }
        .listening(host, port, options, accepting)
    }

    /// Do not call this overload. It exists so that a call with a trailing closure that returns nothing is ambiguous
    /// and does not compile. Use a closure that returns a future, or write the label `owning:`.
    @available(*, deprecated, message: "Return the future of the handler's work, or write the label owning:")
    public static func listen(
        host: String, port: Int, context: TLSContext, options: ListenOptions = ListenOptions(),
        handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        accepting: AcceptLimits = AcceptLimits(),
        orReturnItsFuture handler: @escaping (_ connection: TLSConnection) throws -> Void
    ) throws -> TLSServer {
        try listen(
            host: host, port: port, context: context, options: options, handshakes: handshakes,
            accepting: accepting, owning: handler)
    }

    private func listening(
        _ host: String, _ port: Int, _ options: ListenOptions, _ accepting: AcceptLimits
    ) throws -> TLSServer {
        try tcp.setAcceptLimits(accepting)
        try listen(host: host, port: port, options: options)
        return self
    }

    /// Adds a socket that listens on `port` of `host`, as ``UVFutures/TCPListener`` does. Returns the address of the
    /// new socket. If `port` is 0, the address has the port that the system picked.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `options` have limits other than those of this server.
    @discardableResult
    public func listen(host: String, port: Int, options: ListenOptions = ListenOptions()) throws
        -> SocketAddress
    {
        try requireArgument(
            options.limits == acceptance.limits || options.limits == StreamLimits(),
            "the connections of this server have the limits that were given to its initializer; leave limits out of the options"
        )
        var options = options
        options.limits = acceptance.limits.beneath
        return try tcp.listen(host: host, port: port, options: options)
    }

    /// Adds a socket that systemd has opened: see ``UVFutures/SocketServer/listen(on:limits:)``. Returns its address.
    @discardableResult
    public func listen(on socket: ActivatedSocket) throws -> SocketAddress {
        try tcp.listen(on: socket, limits: acceptance.limits.beneath)
    }

    // MARK: Ending

    /// Stops accepting, and completes when all listening sockets are closed. Open connections stay open.
    @discardableResult
    public func close() -> Future<Void> { tcp.close() }

    /// Stops accepting, and aborts the connections that are still open after `grace`: see
    /// ``UVFutures/SocketServer/shutdown(within:)``.
    public func shutdown(within grace: Duration) -> Future<ShutdownSummary> { tcp.shutdown(within: grace) }

    /// Stops listening, lets the handlers finish, and aborts the connections that are still open after `deadline`: see
    /// ``UVFutures/SocketServer/drain(within:)``. A half-close sends `close_notify`.
    public func drain(within deadline: Duration) -> Future<ShutdownSummary> { tcp.drain(within: deadline) }

    /// How connections have ended since the server began to end: see ``UVFutures/SocketServer/shutdownSummary``.
    public var shutdownSummary: ShutdownSummary { tcp.shutdownSummary }

    /// Completes when the server has been closed, all its connections have ended, and all its handlers have ended.
    public var ended: Future<Void> { tcp.ended }

    /// Serves until the process gets one of the signals, then drains as ``drain(within:)`` does. If the process then
    /// gets one of them again, aborts the connections that are still open: see
    /// ``UVFutures/SocketServer/drain(on:_:within:)``.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration
    ) -> Future<ShutdownSummary> {
        loop.end(
            on: [signal] + others, within: deadline, begin: { [self] in drain(within: deadline) },
            abort: { [self] in shutdown(within: .zero) })
    }
}

@available(
    *, unavailable, message: "A server belongs to its loop's thread; go there with loop.execute { … }."
)
extension TLSServer: Sendable {}

extension TLSServer: CustomStringConvertible {
    /// The server in one line: see ``UVFutures/SocketServer/description``.
    public var description: String { "TLS \(tcp)" }
}

extension TLSServer: ScopeMember {
    /// The membership of this server in a scope: see ``UVFutures/SocketServer/membership``.
    public var membership: ScopeMembership { tcp.membership }
}
