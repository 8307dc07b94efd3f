internal import ByteStreams
public import Futures

extension SocketServer {
    /// Stops accepting, and completes when that is done. Open connections continue.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        if let closedPromise { return closedPromise.future }
        let promise = loop.makePromise(of: Void.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { .continue }
        closedPromise = promise
        for acceptor in acceptors { acceptor.close() }
        completeClose()
        return promise.future
    }

    /// Stops accepting, lets open connections finish within `grace`, aborts the others, and completes when all are
    /// closed. It does not tell the connections to finish: ``drain(within:)`` does.
    ///
    /// Connections that wait to be accepted are reset. Can be called again, also with a shorter grace, and while it
    /// drains; all calls complete together. Cancelling changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration) -> Future<ShutdownSummary> {
        end(within: grace, "shutdown(within:)") { close() }
    }

    /// Serves what has come, and ends all sockets within `deadline`. Completes when everything is closed.
    ///
    /// 1. Connections that wait to be accepted now are accepted and served, then the sockets are closed. A connection
    ///    with an incomplete handshake at that time is reset.
    /// 2. ``SocketConnection/draining`` completes: a handler that knows where its messages end closes after the
    ///    one in hand.
    /// 3. Each connection is half-closed as soon as its peer waits for nothing: the peer reads the end, and closes.
    ///    A connection that has sent nothing yet has until half of the deadline.
    /// 4. What is open at the deadline is aborted.
    ///
    /// Can be called again, also with a shorter deadline; all calls complete together. Cancelling changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration) -> Future<ShutdownSummary> {
        end(within: deadline, "drain(within:)") { beginDraining(deadline) }
    }

    private func end(within time: Duration, _ call: String, _ begin: () -> Void) -> Future<ShutdownSummary> {
        guard time >= .zero else {
            return loop.failed(FutureError.invalidArgument("\(call) was given \(time); give zero or more"))
        }
        let timer = loop.schedule(after: time) { [self] in abortAll() }
        if case .failure(let error) = timer.future.ignoreFailure().result { return loop.failed(error) }
        let promise = shutdownPromise ?? loop.makePromise()
        promise.onCancelRequest { .continue }
        promise.future.whenComplete { _ in timer.cancel() }
        shutdownPromise = promise
        begin()
        completeShutdown()
        return promise.future
    }

    private func beginDraining(_ deadline: Duration) {
        guard !isDraining, !hasAborted else { return }
        isDraining = true
        for acceptor in acceptors { acceptor.finish() }
        for connection in connections.all { connection.beginDraining() }
        let timer = loop.schedule(after: deadline / 2) { [self] in
            for connection in connections.all { connection.endIfIdle() }
        }
        timer.future.ignoreFailure()
        shutdownPromise?.future.whenComplete { _ in timer.cancel() }
    }

    func completeClose() {
        if acceptors.isEmpty { closedPromise?.succeed() }
    }

    private func abortAll() {
        guard !hasAborted else { return }
        hasAborted = true
        close()
        abort(connections.all[...])
    }

    /// Aborts `connections` in batches, so that no turn takes long.
    private func abort(_ connections: ArraySlice<SocketConnection>) {
        for connection in connections.prefix(256) { connection.cutOff() }
        let rest = connections.dropFirst(256)
        if !rest.isEmpty { loop.later(on: .nextTurn) { self.abort(rest) } }
    }

    func completeShutdown() {
        if connections.isEmpty, acceptors.isEmpty { shutdownPromise?.succeed(summary) }
    }
}
