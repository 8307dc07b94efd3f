internal import Futures

extension EventLoop {
    /// Waits for one of `signals`, then calls `begin`. Each further signal calls `abort`. Completes with the first of
    /// their futures to complete. Until then the signals do nothing else.
    ///
    /// Signals do not keep a loop running; with `keepsAlive` the wait does.
    func end(
        on signals: [ProcessSignal], within deadline: Duration, keepsAlive: Bool = false,
        begin: @escaping () -> Future<ShutdownSummary>, abort: @escaping () -> Future<ShutdownSummary>
    ) -> Future<ShutdownSummary> {
        core.checkThread()
        guard deadline >= .zero else {
            return failed(
                FutureError.invalidArgument("a deadline of \(deadline) is negative; give zero or more"))
        }
        var handles: [UVSignal] = []
        do {
            for signal in signals { handles.append(try catchSignal(signal, once: false)) }
        } catch {
            for handle in handles { handle.close() }
            return failed(error)
        }
        let promise = makePromise(of: ShutdownSummary.self)
        // Only the end of the loop fails it.
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
                let ended = isFirst ? begin() : abort()
                isFirst = false
                ended.whenComplete { result in
                    release()
                    promise.complete(result)
                }
            }
        }
        return promise.future
    }
}
