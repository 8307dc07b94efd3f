public import Futures

extension FutureScope {
    /// Drains the scope, as ``Futures/FutureScope/drain(within:)`` does, when the process gets one of the signals, and
    /// cancels it when the process then gets one of them again. Completes when the scope has ended, for whatever reason.
    ///
    /// Until the returned future completes, the signals have no other effect. Cancelling the future restores the former
    /// effect of the signals. Fails with the first error of a member, and with ``Futures/FutureError/invalidArgument(_:)``
    /// if `grace` is negative, or for a signal that ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within grace: Duration
    ) -> Future<Void> {
        drain(on: [signal] + others, within: grace)
    }

    fileprivate func drain(on signals: [ProcessSignal], within grace: Duration) -> Future<Void> {
        loop.attempt {
            try requireArgument(grace >= .zero, "a grace of \(grace) is negative; give zero or more")
            let watches = try loop.catchSignals(signals)
            let promise = loop.makePromise(of: Void.self)
            func release() { for watch in watches { watch.close() } }
            promise.onCancelRequest {
                release()
                return .cancel
            }
            var isFirst = true
            for watch in watches {
                watch.onDelivery = { [self] in
                    if exchange(&isFirst, with: false) { drain(within: grace) } else { cancel() }
                }
            }
            // Who has cancelled the future does not hear of the scope's failure, which is then not handled by this.
            onEnd { [ended] result in
                release()
                if promise.complete(result) { ended.ignoreFailure() }
            }
            return promise.future
        }
    }
}

extension EventLoop {
    /// Runs a whole program: runs `body` with a new scope, and runs the loop until `body` and all members of the scope have
    /// ended. Returns what `body` returns.
    ///
    /// When the process gets SIGTERM or SIGINT, or one of `signals` if there are any, the scope drains, as
    /// ``Futures/FutureScope/drain(within:)`` does: servers finish what they do, and a body that would not end by itself
    /// has to watch ``Futures/FutureScope/draining``. After `grace`, or at a further signal, the scope is cancelled.
    ///
    /// When `body` or another member fails, the scope drains in the same way, and this method throws the error when all have
    /// ended. If `body` ends with a `CancellationError`, the scope drains, too, and this method throws that. If somebody stops
    /// the loop, cancels the scope and throws, as ``Futures/EventLoop/run(until:)`` does. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` as ``Futures/FutureScope/drain(on:_:within:)`` does. Do not pass
    /// `isolation`. Its default is the isolation of the caller.
    ///
    /// ```swift
    /// try EventLoop.main.runScope(within: .seconds(30)) { scope in
    ///     scope.add(server)
    ///     scope.run(onDrain: .cancel) { count = try await load("page").count }
    /// }
    /// ```
    public func runScope<Value>(
        on signals: ProcessSignal..., within grace: Duration, isolation: (any Actor)? = #isolation,
        _ body: @escaping (_ scope: FutureScope) async throws -> Value
    ) throws -> Value {
        let scope = FutureScope(on: self) { _ in .drain(within: grace) }
        let drained = scope.drain(on: signals.isEmpty ? [.terminate, .interrupt] : signals, within: grace)
        if case .failure(let error) = drained.ignoreFailure().result { throw error }
        let work = scope.run(isolation: isolation) { try await body(scope) }
        work.whenCancelled { scope.drain(within: grace) }
        do { try run(until: drained) } catch {
            // Somebody has stopped the loop, or nothing is left that could end the scope.
            drained.cancel()
            scope.cancel()
            throw error
        }
        return try run(until: work)
    }
}
