public import Futures
internal import SystemIO

extension TCPServerGroup {
    /// Ends all servers as ``SocketServer/shutdown(within:)`` does, then ends the threads. Completes with the sum
    /// of the servers' summaries. The returned future belongs to `loop`.
    ///
    /// You can call this function again, and you can call it while the group drains. If several calls give
    /// different times, the connections are aborted at the earliest of these times. Cancelling the returned
    /// future changes nothing. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration, on loop: EventLoop) -> Future<ShutdownSummary> {
        end(within: grace, on: loop) { $0.shutdown(within: grace) }
    }

    /// Ends all servers as ``SocketServer/drain(within:)`` does, then ends the threads. Completes with the sum of
    /// the servers' summaries. The returned future belongs to `loop`.
    ///
    /// You can call this function again. Then the earliest of the deadlines counts. Cancelling the returned
    /// future changes nothing. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration, on loop: EventLoop) -> Future<ShutdownSummary> {
        end(within: deadline, on: loop) { $0.drain(within: deadline) }
    }

    /// Ends all servers as ``SocketServer/shutdown(within:)`` does, then ends the threads. Returns the sum of the
    /// servers' summaries.
    ///
    /// You can call this function again, and you can call it while the group drains. If several calls give
    /// different times, the connections are aborted at the earliest of these times. Cancelling the task
    /// changes nothing. Throws ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration) async throws -> ShutdownSummary {
        try await withCheckedThrowingContinuation { continuation in
            end(within: grace, { $0.shutdown(within: grace) }) { continuation.resume(with: $0) }
        }
    }

    /// Ends all servers as ``SocketServer/drain(within:)`` does, then ends the threads. Returns the sum of the
    /// servers' summaries.
    ///
    /// You can call this function again. Then the earliest of the deadlines counts. Cancelling the task changes
    /// nothing. Throws ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration) async throws -> ShutdownSummary {
        try await withCheckedThrowingContinuation { continuation in
            end(within: deadline, { $0.drain(within: deadline) }) { continuation.resume(with: $0) }
        }
    }

    /// Serves until the process gets one of the signals, then drains as ``drain(within:on:)`` does. If the
    /// process then gets one of the signals again, aborts the connections that are still open. The returned
    /// future belongs to `loop`, and keeps `loop` running.
    ///
    /// ```swift
    /// let summary = try loop.run(until: group.drain(on: .terminate, .interrupt, within: .seconds(30), for: loop))
    /// ```
    ///
    /// Until the returned future completes, the signals have no other effect. Cancelling the future restores the
    /// former effect of the signals. After that, the group continues to serve or, if draining has begun, to
    /// drain. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal
    /// that ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration, for loop: EventLoop
    ) -> Future<ShutdownSummary> {
        let loop = loop.core
        // The servers run on other loops. Only the wait for the signal keeps this loop running.
        return loop.end(
            on: [signal] + others, within: deadline, keepsAlive: true,
            begin: { [self] in drain(within: deadline, on: loop) },
            abort: { [self] in shutdown(within: .zero, on: loop) })
    }

    private func end(
        within time: Duration, on loop: EventLoop,
        _ body: @escaping @Sendable (TCPServer) -> Future<ShutdownSummary>
    ) -> Future<ShutdownSummary> {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { return loop.failed(FutureError.shutDown) }
        let promise = loop.makeRemotePromise(of: ShutdownSummary.self)
        promise.onCancelRequest { .continue }
        end(within: time, body) { promise.complete($0) }
        return promise.future
    }

    private func end(
        within time: Duration, _ body: @escaping @Sendable (TCPServer) -> Future<ShutdownSummary>,
        _ completion: @escaping @Sendable (Result<ShutdownSummary, any Error>) -> Void
    ) {
        guard time >= .zero else {
            let text = "a time limit of \(time) is negative; give zero or more"
            return completion(.failure(FutureError.invalidArgument(text)))
        }
        if let summary = summary.withLock({ $0 }) { return completion(.success(summary)) }
        // Other code may have shut down some of the loops.
        let accepted = loops.contains { loop in
            loop.execute {
                self.flatOnEach(on: loop, failFast: false, body).whenComplete { self.ended($0, completion) }
            }
        }
        if !accepted { completion(.failure(FutureError.shutDown)) }
    }

    /// Called when all servers have ended, or when other code has shut down one of the loops. Ends all
    /// loops.
    private func ended(
        _ result: Result<[ShutdownSummary], any Error>,
        _ completion: @escaping @Sendable (Result<ShutdownSummary, any Error>) -> Void
    ) {
        let total = summary.withLock { summary in
            if let summary { return Result<ShutdownSummary, any Error>.success(summary) }
            let total = result.map { $0.reduce(into: ShutdownSummary()) { $0.add($1) } }
            summary = try? total.get()
            return total
        }
        let left = Locked(members.count)
        for member in members {
            member.shutdown()
            member.whenEnded {
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { completion(total) }
            }
        }
    }
}
