public import ByteStreams
public import Futures

/// Listens, and gives each connection to a handler. It lives until it is closed, whoever holds it.
///
/// A handler that returns a future has the connection until that completes: then the connection is closed,
/// what has been written first, or, if the future fails, aborted. A handler that returns nothing owns the
/// connection, which lives until somebody closes it. One that throws has it aborted.
///
/// ```swift
/// let server = try TCPServer.listen(host: "127.0.0.1", port: 7007, on: loop) { connection in
///     connection.forEachChunk { chunk in connection.write(chunk) }
/// }
/// ```
public final class TCPServer {
    public let loop: EventLoop
    /// Called with what the handler threw or its future failed with, once for a connection, and with what
    /// went wrong when one was taken or closed. Unless set, ``Futures/EventLoop/onUnhandledFailure`` gets it.
    public var onConnectionError: ((any Error) -> Void)?
    private let listener: TCPListener
    private var connections: [UInt64: TCPConnection] = [:]
    private var isListening = true
    private var shutdownPromise: Promise<ShutdownSummary>?
    private var summary = ShutdownSummary()
    /// The grace is over.
    private var hasAborted = false

    /// How the connections ended that were open when the server was shut down.
    public struct ShutdownSummary: Hashable, Sendable {
        /// By themselves, within the grace.
        public var finished = 0
        /// By the server, after it.
        public var aborted = 0
    }

    /// Listens on `port` of `host`, as ``TCPListener/init(host:port:backlog:limits:on:)`` does, and closes
    /// each connection when the future that `handler` returned for it completes.
    public static func listen<Ignored>(
        host: String, port: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop,
        _ handler: @escaping (_ connection: TCPConnection) throws -> Future<Ignored>
    ) throws -> TCPServer {
        let server = TCPServer(
            try TCPListener(host: host, port: port, backlog: backlog, limits: limits, on: loop))
        server.start { connection in
            let handled = try handler(connection)
            handled.whenComplete { server.handled(connection, $0.map { _ in }) }
        }
        return server
    }

    /// Listens on `port` of `host`, as ``TCPListener/init(host:port:backlog:limits:on:)`` does. Each
    /// connection lives until it is closed.
    public static func listen(
        host: String, port: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop,
        _ handler: @escaping (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServer {
        let server = TCPServer(
            try TCPListener(host: host, port: port, backlog: backlog, limits: limits, on: loop))
        server.start(handler)
        return server
    }

    private init(_ listener: TCPListener) {
        loop = listener.loop
        self.listener = listener
    }

    /// Where it listens, with the port that the system picked if 0 was asked for.
    public var localAddress: SocketAddress { listener.localAddress }

    /// How many connections are open.
    public var activeConnections: Int { connections.count }

    /// Stops accepting, and completes when that is done. Open connections go on.
    @discardableResult
    public func close() -> Future<Void> { listener.close() }

    /// Stops accepting, lets open connections finish within `grace`, aborts the others, and completes when
    /// all are closed.
    ///
    /// Can be called again, with a shorter grace too; all calls complete together. Cancelling changes
    /// nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(grace: Duration) -> Future<ShutdownSummary> {
        let timer = loop.schedule(after: grace) { [self] in abortAll() }
        if case .failure(let error) = timer.future.ignoreFailure().result { return loop.failed(error) }
        let promise = shutdownPromise ?? loop.makePromise()
        promise.onCancelRequest { .continue }
        promise.future.whenComplete { _ in timer.cancel() }
        shutdownPromise = promise
        listener.close().whenComplete { [self] _ in
            isListening = false
            completeShutdown()
        }
        return promise.future
    }

    // MARK: Serving

    /// The listener owns what it calls, and so the server, until it is closed.
    private func start(_ handler: @escaping (TCPConnection) throws -> Void) {
        listener.onConnection { [self] error in
            if let error { return report(error) }
            switch listener.take() {
            case .success(let connection): serve(connection, handler)
            case .failure(let error): report(error)
            case nil: break
            }
        }
    }

    private func serve(_ connection: TCPConnection, _ handler: (TCPConnection) throws -> Void) {
        connections[connection.id] = connection
        connection.closed.whenComplete { [self] _ in closed(connection) }
        do {
            try handler(connection)
        } catch {
            handled(connection, .failure(error))
        }
    }

    private func handled(_ connection: TCPConnection, _ result: Result<Void, any Error>) {
        switch result {
        case .success:
            connection.close().whenFailure { [self] error in report(error) }
        case .failure(let error):
            connection.abort()
            report(error)
        }
    }

    /// Whether it fails because somebody cancelled it, or shut down the server or the whole loop.
    private func isExpected(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, FutureError.shutDown: true
        case StreamError.connectionClosed: hasAborted
        default: false
        }
    }

    private func closed(_ connection: TCPConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        if shutdownPromise != nil, !hasAborted { summary.finished += 1 }
        completeShutdown()
    }

    private func abortAll() {
        guard !hasAborted else { return }
        hasAborted = true
        summary.aborted = connections.count
        for connection in connections.values { connection.abort() }
    }

    private func completeShutdown() {
        if !isListening, connections.isEmpty { shutdownPromise?.succeed(summary) }
    }

    private func report(_ error: any Error) {
        guard !isExpected(error) else { return }
        if let onConnectionError { onConnectionError(error) } else { _ = loop.failed(error, as: Void.self) }
    }
}

@available(
    *, unavailable, message: "A server belongs to its loop's thread; go there with loop.execute { … }."
)
extension TCPServer: Sendable {}
