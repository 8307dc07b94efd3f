extension Future {
    /// The value, or the error thrown. Returns at once if the future has completed, without suspending.
    ///
    /// To be read on the loop's thread, as by an actor whose executor is the loop. While it waits, it is a
    /// consumer and keeps ``EventLoop/run()`` from returning. Cancelling the task ends the wait with a
    /// `CancellationError`, and the future is asked to cancel if nobody else waits for it.
    public var value: Value {
        get async throws {
            if let result {
                ignoreFailure()
                return try result.get()
            }
            return try await pendingValue()
        }
    }

    private func pendingValue(isolation: isolated (any Actor)? = #isolation) async throws -> Value {
        let loop = loop
        let id = loop.nextWaiterID()
        // Without a preference the task would go on by way of another thread: continuations resume on no actor.
        return try await withTaskExecutorPreference(Resumption(loop)) {
            // A closure that mentions the isolation runs in it.
            _ = isolation
            return try await withTaskCancellationHandler {
                _ = isolation
                return try await unsafe withUnsafeThrowingContinuation(isolation: isolation) { continuation in
                    loop.addWaiter(id, for: self) { result in
                        // It stays on the loop's thread, to which the task is isolated.
                        nonisolated(unsafe) let result = result
                        unsafe continuation.resume(with: result)
                    }
                    if Task.isCancelled { loop.cancelWaiter(id) }
                }
            } onCancel: {
                loop.execute { loop.cancelWaiter(id) }
            }
        }
    }
}

extension EventLoop {
    /// A task that awaits a future: its consumer, and how to resume it with a `CancellationError`.
    struct Waiter {
        let observer: CellObject
        let cancel: () -> Void
    }

    fileprivate func nextWaiterID() -> UInt64 {
        lastWaiterID += 1
        return lastWaiterID
    }

    fileprivate func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        let step = CompleteObserver<Value> { [unowned self] result in
            removeWaiter(id)
            resume(result)
        }
        if waiters.isEmpty { driver.keepAlive(true) }
        waiters[id] = Waiter(observer: future.cell.observe(step, when: .all)) {
            resume(.failure(CancellationError()))
        }
    }

    fileprivate func cancelWaiter(_ id: UInt64) {
        guard let waiter = removeWaiter(id) else { return }
        waiter.observer.stopObserving(cancelling: true)
        waiter.cancel()
    }

    @discardableResult
    private func removeWaiter(_ id: UInt64) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        if waiters.isEmpty { driver.keepAlive(false) }
        return waiter
    }
}
