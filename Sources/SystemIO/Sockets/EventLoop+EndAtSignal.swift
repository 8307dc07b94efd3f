package import Futures

extension EventLoop {
    /// Calls `begin` when the process gets one of `signals`, and `abort` at each further signal. Both return
    /// a future. The first of these futures that completes also completes the returned future. Until then,
    /// the signals have no other effect.
    ///
    /// If `keepsAlive` is `true`, the wait keeps the loop running. Signals alone do not.
    package func end(
        on signals: [ProcessSignal], within deadline: Duration, keepsAlive: Bool = false,
        begin: @escaping () -> Future<ShutdownSummary>, abort: @escaping () -> Future<ShutdownSummary>
    ) -> Future<ShutdownSummary> {
        core.checkThread()
        let handles: [any SignalWatch]
        do {
            try requireArgument(
                deadline >= .zero, "a deadline of \(deadline) is negative; give zero or more")
            handles = try catchSignals(signals)
        } catch {
            return failed(error)
        }
        let promise = makePromise(of: ShutdownSummary.self)
        // The promise fails by itself only when the loop is shut down.
        promise.future.ignoreFailure()
        let core = core
        if keepsAlive { core.hold() }
        var isWaiting = true
        func release() {
            guard isWaiting else { return }
            isWaiting = false
            if keepsAlive { core.letGo() }
            for handle in handles { handle.close() }
        }
        promise.onCancelRequest {
            release()
            return .cancel
        }
        var isFirst = true
        for handle in handles {
            handle.onDelivery = {
                let ended = exchange(&isFirst, with: false) ? begin() : abort()
                ended.whenComplete { result in
                    release()
                    promise.complete(result)
                }
            }
        }
        return promise.future
    }
}
