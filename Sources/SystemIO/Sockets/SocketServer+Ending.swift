internal import ByteStreams
public import Futures

extension SocketServer {
    /// Stops accepting, and completes when all listening sockets are closed. Open connections stay open.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        if let closedPromise { return closedPromise.future }
        let promise = core.makeSharedPromise()
        closedPromise = promise
        for acceptor in acceptors { acceptor.close() }
        completeEnds()
        return promise.future
    }

    /// Stops accepting, and aborts the connections that are still open after `grace`. Completes when all
    /// connections are closed. The value says how many connections finished, were aborted, or failed. This
    /// function does not ask the handlers to finish. To do that, use ``drain(within:)``.
    ///
    /// An abort first half-closes the connection, and gives what has been written
    /// ``ByteStreams/StreamLimits/closeTimeout`` to reach the peer. Then it resets what is left. If `grace` is zero,
    /// it resets all connections at once.
    ///
    /// Connections that wait to be accepted are reset. You can call this function again, and you can call it
    /// while the server drains. If several calls give different times, the connections are aborted at the
    /// earliest of these times. The futures of all calls complete together. Cancelling a returned future
    /// changes nothing. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration) -> Future<ShutdownSummary> {
        end(within: grace, "shutdown(within:)") { close() }
    }

    /// Stops listening, lets the handlers finish, and aborts the connections that are still open after
    /// `deadline`. Completes when all connections and listening sockets are closed. The value says how many
    /// connections finished, were aborted, failed, or were cut.
    ///
    /// 1. Connections that wait to be accepted now are accepted and served. Then the listening sockets are
    ///    closed. A connection that has not completed its TCP handshake by then is reset.
    /// 2. ``ByteStreams/ByteStream/draining`` completes on each connection. A handler should then finish the current
    ///    message and close the connection.
    /// 3. The server half-closes a connection only when its handler waits for nothing but the next message, has
    ///    answered the last one, and has never written while a read waited, and when its scope has no other members. A
    ///    handler that pushes, or that reads a
    ///    message in several reads, has to end by `draining` itself (see ``ByteStreams/ByteStream/endsWhenIdle``). If a
    ///    peer has sent nothing yet, the server half-closes the connection after half of the deadline. It half-closes a
    ///    connection that its handler owns only in this case.
    /// 4. Connections that are still open at the deadline are aborted, as ``shutdown(within:)`` does. So all of this may
    ///    take `deadline` and ``ByteStreams/StreamLimits/closeTimeout`` together.
    ///
    /// The returned future does not wait for a handler whose connection has ended before the handler: ``ended`` does.
    ///
    /// After a half-close, the peer reads the end of the stream, and closes. A write of the handler after that fails
    /// with ``ByteStreams/StreamError/drained``, and the connection counts as cut.
    ///
    /// You can call this function again. Then the earliest of the deadlines counts, and the futures of all calls
    /// complete together. Cancelling a returned future changes nothing. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration) -> Future<ShutdownSummary> {
        end(within: deadline, "drain(within:)") { beginDraining(deadline) }
    }

    /// Serves until the process gets one of the signals, then drains as ``drain(within:)`` does. If the process
    /// then gets one of the signals again, resets the connections that are still open at once. From the first signal
    /// on, this may take `deadline` and ``ByteStreams/StreamLimits/closeTimeout`` together.
    ///
    /// ```swift
    /// let summary = try loop.run(until: server.drain(on: .terminate, .interrupt, within: .seconds(30)))
    /// ```
    ///
    /// Until the returned future completes, the signals have no other effect. Cancelling the future restores the
    /// former effect of the signals. After that, the server continues to serve or, if draining has begun, to
    /// drain. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal
    /// that ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration
    ) -> Future<ShutdownSummary> {
        loop.end(
            on: [signal] + others, within: deadline, begin: { [self] in drain(within: deadline) },
            abort: { [self] in shutdown(within: .zero) })
    }

    private func end(within time: Duration, _ call: String, _ begin: () -> Void) -> Future<ShutdownSummary> {
        do { try requireNotNegative(time, givenTo: call) } catch { return loop.failed(error) }
        let timer = loop.schedule(after: time) { [self] in abortAll(now: time == .zero) }
        if case .failure(let error) = timer.future.ignoreFailure().result { return loop.failed(error) }
        let promise = shutdownPromise ?? loop.makePromise()
        promise.onCancelRequest { .continue }
        promise.future.whenComplete { _ in timer.cancel() }
        shutdownPromise = promise
        begin()
        completeEnds()
        return promise.future
    }

    private func beginDraining(_ deadline: Duration) {
        guard !isDraining, !hasAborted else { return }
        isDraining = true
        for acceptor in acceptors { acceptor.finish() }
        for connection in connections.all { connection.beginDraining() }
        let timer = loop.schedule(after: deadline / 2) { [self] in
            for connection in connections.all { connection.endIfIdle(fresh: true) }
        }
        shutdownPromise?.future.whenComplete { _ in timer.cancel() }
    }

    private func abortAll(now: Bool) {
        hasAborted = true
        close()
        cut(now: now)
        guard !now, let time = connections.all.map(\.limits.closeTimeout).max() else { return }
        // A handler may have begun to close its connection, with more time.
        let timer = loop.schedule(after: time) { [self] in cut(now: true) }
        shutdownPromise?.future.whenComplete { _ in timer.cancel() }
    }

    private func cut(now: Bool) {
        forEach(of: connections.all[...]) { if now { $0.cutOff() } else { $0.cutShort() } }
    }

    /// Calls `end` with `connections` in batches, so that no turn takes long.
    private func forEach(
        of connections: ArraySlice<SocketConnection>, _ end: @escaping (SocketConnection) -> Void
    ) {
        for connection in connections.prefix(256) { end(connection) }
        let rest = connections.dropFirst(256)
        if !rest.isEmpty { loop.later(on: .nextTurn) { self.forEach(of: rest, end) } }
    }

    /// Completes when the server has been closed, all its connections have ended, and all its handlers have ended.
    public var ended: Future<Void> {
        core.checkThread()
        let promise = endedPromise ?? core.makeSharedPromise()
        endedPromise = promise
        completeEnds()
        return promise.future
    }

    /// Cancels the handlers. Ends connections without a handler, and sockets.
    private func cancelAll() {
        hasAborted = true
        close()
        for work in lateWork.values { _ = work.cancelWork() }
        forEach(of: connections.all[...]) { connection in
            let isHandled = connection.cancelWork()
            if connection.carried?.cancelWork() ?? isHandled { return }
            connection.cutShort()
        }
    }

    /// Completes the future of ``close()`` if all sockets are closed, the future of the shutdown if all
    /// connections are closed, too, and ``ended`` if the handlers have ended, too.
    func completeEnds() {
        guard acceptors.isEmpty else { return }
        closedPromise?.completeLast()
        guard connections.isEmpty else { return }
        shutdownPromise?.completeLast(.success(shutdownSummary))
        if lateWork.isEmpty, closedPromise != nil || shutdownPromise != nil { endedPromise?.completeLast() }
    }
}

extension SocketServer: CustomStringConvertible {
    /// The server in one line, such as `server of TCPConnection at 127.0.0.1:7007 with 12 connections`.
    public var description: String {
        let addresses = localAddresses.map(\.description).joined(separator: ", ")
        return "server of \(Connection.self) at \(addresses.isEmpty ? "no address" : addresses) "
            + "with \(connections.count) connection\(connections.count == 1 ? "" : "s")"
    }
}

extension SocketServer: ScopeMember {
    /// The membership of this server in a scope. A cancelled scope cancels the handlers, and closes the server. A scope
    /// that drains does so by ``drain(within:)``. The server has ended when ``ended`` completes: so a handler that
    /// ignores its cancellation keeps the scope from ending.
    public var membership: ScopeMembership {
        ScopeMembership(
            ended: ended, cancel: { self.cancelAll() }, drain: { _ = self.drain(within: $0) })
    }
}
