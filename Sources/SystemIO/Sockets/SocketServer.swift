package import ByteStreams
public import Futures

/// A server that listens, and passes each connection to a handler. The server lives until it is closed, even if
/// there are no references to it.
///
/// There are three kinds of handlers. If a handler returns a future, the connection stays open until that future
/// completes. If a handler awaits, the connection stays open until the handler returns. In both cases, the server
/// then sends what has been written, and closes the connection. If the future fails or the handler throws, the
/// server aborts the connection. The third kind of handler returns nothing, and owns the connection, which stays
/// open until your code closes it. Pass such a handler as the argument `owning`.
///
/// ```swift
/// let server = try TCPServer.listen(host: "127.0.0.1", port: 7007, on: loop) { connection in
///     connection.forEachChunk { chunk in connection.write(chunk) }
/// }
/// let lines = try TCPServer.listen(host: "127.0.0.1", port: 7008, on: loop) { connection in
///     for try await line in connection.lines() { connection.write(line + Data("\n".utf8)) }
/// }
/// let chat = try TCPServer.listen(host: "127.0.0.1", port: 7009, on: loop, owning: { members.append($0) })
/// ```
///
/// If a trailing closure neither returns a future nor awaits, the compiler reports the call as ambiguous. In most
/// cases, a `return` is missing.
///
/// A server can listen on several sockets of one kind. A `SocketServer<SocketConnection>` can listen on sockets
/// of several kinds.
public final class SocketServer<Connection: SocketConnection> {
    public var loop: EventLoop { core }
    let core: LoopCore
    /// A closure that gets the errors of connections. The server calls this closure if the handler of a
    /// connection throws, or if the future that the handler returned fails. The server also calls this closure
    /// with errors from accepting or closing a connection.
    ///
    /// The server does not call this closure for a cancellation, or for errors that a shutdown of the server or
    /// of the loop causes. If an error means only that the peer has disconnected, its `isDisconnection` is
    /// `true`. If this property is `nil`, ``Futures/EventLoop/onUnhandledFailure`` gets the errors.
    public var onConnectionError: ((any Error) -> Void)? {
        get { errorHandler }
        set { withExtendedLifetime(exchange(&errorHandler, with: newValue)) {} }
    }
    private var errorHandler: ((any Error) -> Void)?
    /// A closure that the server calls when a connection cannot be accepted, mostly for lack of descriptors
    /// or memory. There is at most one call a minute. The connection waits in the system, and the server
    /// tries again. If this property is `nil`, the server prints a warning to standard error.
    public var onShortage: ((SystemError) -> Void)? {
        get { shortages.handler }
        set { withExtendedLifetime(exchange(&shortages.handler, with: newValue)) {} }
    }
    /// The addresses of all sockets on which the server listens or has listened, in the order in which the sockets were
    /// added.
    public private(set) var localAddresses: [SocketAddress] = []
    private var handler: (Connection) throws -> Void = { _ in }
    /// The acceptors whose sockets are not closed yet.
    private(set) var acceptors: [Acceptor] = []
    let connections = ConnectionList()
    /// The connections that have ended before their handlers.
    var lateWork: [ObjectIdentifier: ByteStream] = [:]
    var acceptLimits = AcceptLimits()
    var proxyRules: ProxyProtocol?
    /// Whether `maxConnections` was reached, and since then the number of connections has not fallen to the
    /// low mark.
    var isFull = false
    /// Whether each peer sends a greeting first. `didIntroduceItself` is called when the greeting is there.
    package var expectsGreetings = false
    /// The number of connections that have made room for others and are not closed yet.
    var makingRoom = 0
    /// The timer that looks for a connection that may make room, while the server is full.
    var silenceTimer: ScheduledTask<Void>?
    var silence = ReportLimit()
    /// The statistics, without the numbers that `statistics` computes.
    var counters = ServerStatistics()
    /// The number of connections that ended with the reason `closed`. Counted apart because this is the most
    /// frequent reason by far, and an integer is faster than a dictionary.
    private(set) var closedInOrder = 0
    let shortages = ShortageReport()
    var fullness = ReportLimit()
    var isDraining = false
    var closedPromise: Promise<Void>?
    var shutdownPromise: Promise<ShutdownSummary>?
    var endedPromise: Promise<Void>?
    /// How connections have ended since the server began to end: by ``drain(within:)``, by ``shutdown(within:)``, or
    /// because its scope was cancelled. All numbers are zero before that.
    public private(set) var shutdownSummary = ShutdownSummary()
    /// Whether the grace period is over, and the connections have been aborted.
    var hasAborted = false

    /// Creates a server that does not listen yet. To listen, call `listen`. For each connection, `handler`
    /// returns a future. The server closes the connection when that future completes.
    public convenience init<Ignored>(
        on loop: EventLoop, _ handler: @escaping (_ connection: Connection) throws -> Future<Ignored>
    ) {
        self.init(loop)
        let values = core.carriedValues
        self.handler = { [unowned self] connection in
            let handled = try values.during { try handler(connection) }.given(to: core)
            connection.handlerBegan(handled.whenComplete(tell: self, of: connection))
        }
    }

    /// Creates a server that does not listen yet. To listen, call `listen`. The server closes each connection
    /// when `handler` returns.
    ///
    /// Runs `handler` on the loop, in the same way as ``Futures/Future/init(on:isolation:_:)`` runs its body.
    /// You can write `handler` as a trailing closure, without the label `awaiting`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    public convenience init(
        on loop: EventLoop, isolation: (any Actor)? = #isolation,
        awaiting handler: @escaping (_ connection: Connection) async throws -> Void
    ) {
        self.init(on: loop) { connection in
            Future(on: connection.loop, isolation: isolation, for: connection, endsWithWork: true) {
                try await handler(connection)
            }
        }
    }

    /// Creates a server that does not listen yet. To listen, call `listen`. Each connection stays open until
    /// your code closes it.
    public convenience init(
        on loop: EventLoop, owning handler: @escaping (_ connection: Connection) throws -> Void
    ) {
        self.init(loop)
        let values = core.carriedValues
        self.handler = { connection in try values.during { try handler(connection) } }
    }

    /// Do not call this overload. It exists so that a call with a trailing closure that returns nothing is
    /// ambiguous and does not compile. Use a closure that returns a future, or write the label `owning:`.
    @available(*, deprecated, message: "Return the future of the handler's work, or write the label owning:")
    public convenience init(
        on loop: EventLoop, orReturnItsFuture handler: @escaping (_ connection: Connection) throws -> Void
    ) {
        self.init(on: loop, owning: handler)
    }

    private init(_ loop: EventLoop) {
        core = loop.core
        core.checkThread()
    }

    /// The address on which the server listens. If the requested port was 0, the address has the port that
    /// the system picked. If the server listens on several sockets, this is the address of the first socket.
    ///
    /// Traps if the server has never listened.
    public var localAddress: SocketAddress {
        guard let address = localAddresses.first else {
            trap("A server was asked for its address before it listened. Call listen(…) first.")
        }
        return address
    }

    /// The number of open connections. Connections that linger (see ``ByteStreams/ByteStream/close(within:)``) do
    /// not count.
    public var activeConnections: Int { connections.count - counters.lingering }

    // MARK: Serving

    /// Serves the connections of the socket that `makeSocket` returns, until the socket is closed. Returns
    /// the address of the socket. Throws an error if the server has been closed.
    func serve(_ limits: StreamLimits, on makeSocket: () throws -> any ListenerSocket) throws -> SocketAddress
    {
        try core.checkRuns()
        try requireArgument(
            closedPromise == nil && shutdownPromise == nil,
            "the server has been closed; make another one to listen again")
        try limits.validate()
        let socket = try makeSocket()
        let acceptor = Acceptor(socket, limits: limits)
        // These closures keep the server alive until the socket is closed.
        acceptor.share = acceptLimits.perTurn
        acceptor.isWanted = { [self] in hasRoom() }
        acceptor.onConnection = { [self] in serve($0 as! Connection) }
        acceptor.onShortage = { [self] in
            shortages.add($0, open: connections.count, on: loop)
            makeRoom()
        }
        acceptor.onFailure = { [self] in
            counters.shed += 1
            report($0)
        }
        socket.onClose = { [self] in
            acceptors.removeAll { $0 === acceptor }
            if acceptors.isEmpty { silenceTimer.take()?.cancel() }
            completeEnds()
        }
        localAddresses.append(socket.localAddress)
        acceptors.append(acceptor)
        acceptor.resume()
        return socket.localAddress
    }

    private func serve(_ connection: Connection) {
        counters.accepted += 1
        connections.add(connection, at: core.clock)
        connection.duty = firstDuty
        connection.belong(to: self)
        oneMoreCounts()
        if let proxyRules { introduce(connection, proxyRules) } else { handle(connection) }
        if isDraining { connection.beginDraining() }
    }

    func handle(_ connection: Connection) {
        do {
            try handler(connection)
        } catch {
            handled(connection, .failure(error))
        }
    }

    /// Ends `connection` after its handler has ended. `connection` belongs to the server, or is carried by a connection
    /// of the server.
    package func handled(_ connection: ByteStream, _ result: Result<Void, any Error>) {
        let outer = connection.handlerEnded(result)
        // That of a connection that the handler has upgraded.
        let inner = connection.carried?.handlerEnded(result)
        guard outer != nil || inner != nil else { return worked(for: connection, result) }
        Future.allSettled([outer, inner].compactMap { $0 }).whenSuccess { [self] results in
            worked(for: connection, results.first { !$0.isSuccess } ?? result)
        }
    }

    /// Ends `connection` after its handler and the members of its scope have ended.
    private func worked(for connection: ByteStream, _ result: Result<Void, any Error>) {
        // The handler may have upgraded the connection. Then the upgraded one sends the rest, and reports the end.
        let stream = connection.carried ?? connection
        if !lateWork.isEmpty {
            lateWork[ObjectIdentifier(connection)] = nil
            lateWork[ObjectIdentifier(stream)] = nil
            completeEnds()
        }
        switch result {
        case .success:
            stream.end(within: connection.limits.closeTimeout)
            if stream.hasEndedWell { return }
            stream.closed.whenFailure { [self] error in report(error, of: "\(connection)") }
        case .failure(let error):
            let subject = errorHandler == nil ? "the handler of \(connection)" : ""
            // If the handler has closed the connection before it failed, the close goes on.
            stream.endFailed()
            report(error, of: subject)
        }
    }

    /// Whether `error` comes from a cancellation, or from a shutdown of the server or of the whole loop.
    package func isExpected(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, FutureError.shutDown, StreamError.madeRoom: true
        case let error as CleanUpError: isExpected(error.error) && isExpected(error.cleanUpError)
        case StreamError.connectionClosed: hasAborted
        default: false
        }
    }

    /// Reports `error`, unless it was expected. `subject` is the name of the part that failed, for the text
    /// that is printed if ``onConnectionError`` is `nil`.
    private func report(_ error: any Error, of subject: @autoclosure () -> String = "a server") {
        guard !isExpected(error) else { return }
        if let errorHandler { return errorHandler(error) }
        core.reportUnhandled(error, of: subject())
    }
}

extension SocketServer: StreamOwner, OutcomeListener {
    /// Whether connections wait for acknowledgements before they end: the summary counts a connection as
    /// finished only if the peer has acknowledged everything.
    package var wantsAcknowledgement: Bool { shutdownPromise != nil }

    package func streamLingers(_ stream: ByteStream) {
        counters.lingering += 1
        oneLessCounts()
    }

    package func streamDidClose(_ stream: ByteStream) {
        let connection = stream as! Connection
        noteLateWork(for: connection)
        if let carried = connection.carried { noteLateWork(for: carried) }
        connections.remove(connection)
        counters.count(bytesOf: connection)
        let reason = connection.closeReason
        if reason == .closed { closedInOrder += 1 } else { counters.closes[reason, default: 0] += 1 }
        if reason == .madeRoom { makingRoom -= 1 }
        if shutdownPromise != nil || hasAborted { shutdownSummary.count(reason) }
        if connection.hasLingered { counters.lingering -= 1 } else { oneLessCounts() }
        for acceptor in acceptors { acceptor.retry() }
        completeEnds()
    }

    /// Notes the work that goes on, though the connection is not there any more.
    private func noteLateWork(for stream: ByteStream) {
        guard stream.hasWork else { return }
        lateWork[ObjectIdentifier(stream)] = stream
        if stream.hasHandler { return }
        // No handler's end tells of that of the scope.
        stream.scope.onEnd { [self] _ in
            lateWork[ObjectIdentifier(stream)] = nil
            completeEnds()
        }
    }

    /// Called when the future that the handler returned for `connection` has completed.
    package func didComplete(_ connection: AnyObject, _ result: Result<Void, any Error>) {
        let connection = connection as! ByteStream
        connection.handling = nil
        handled(connection, result)
    }
}

@available(
    *, unavailable, message: "A server belongs to its loop's thread; go there with loop.execute { … }."
)
extension SocketServer: Sendable {}
