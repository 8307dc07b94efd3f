extension Future {
    /// The value, or the error thrown. Returns at once if the future has completed, without suspending.
    ///
    /// To be read on the loop's thread, as by an actor whose executor is the loop. While it waits, it is a
    /// consumer and keeps ``EventLoop/run()`` from returning. Cancelling the task ends the wait with a
    /// `CancellationError`, and the future is asked to cancel if nobody else waits for it.
    public var value: Value {
        // Not inlined: the optimizer then looks at the result before it goes to the actor that asks, where the thread is
        // checked.
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
        let id = loop.newRemoteID()
        // Without a preference the task would go on by way of another thread: continuations resume on no actor.
        return try await withTaskExecutorPreference(Resumption(loop)) {
            // A closure that mentions the isolation runs in it.
            _ = isolation
            return try await withTaskCancellationHandler {
                _ = isolation
                return try await unsafe withUnsafeThrowingContinuation(isolation: isolation) { continuation in
                    loop.addWaiter(id, for: self, keepsAlive: true) { result in
                        // It stays on the loop's thread, to which the task is isolated.
                        nonisolated(unsafe) let result = result
                        unsafe continuation.resume(with: result)
                    }
                    if Task.isCancelled {
                        loop.remotes.removeValue(forKey: id)?.end(with: CancellationError())
                    }
                }
            } onCancel: {
                loop.endRemote(id, with: CancellationError())
            }
        }
    }
}
