// These overloads allow an argument with a leading dot, as in `promise.complete(.cancelled)`. The compiler
// takes them only if no other overload fits. Each calls the method that takes any `Completing`.
extension Promise {
    /// Completes the future with `completion`. Returns `false` if the future has already been completed or
    /// cancelled.
    @_disfavoredOverload @discardableResult
    public func complete(_ completion: FutureCompletion<Value>) -> Bool { complete(completion) }

    /// Calls `body` now, if the future is pending. Completes the future with the completion that `body`
    /// returns. If `body` throws, the future fails with that error.
    ///
    /// If the future is not pending, calls `alreadyCompleted`, and not `body`. Returns `true` if this call
    /// completed the future.
    @_disfavoredOverload @discardableResult
    public func completeIfPending(
        _ body: () throws -> FutureCompletion<Value>, else alreadyCompleted: () -> Void = {}
    ) -> Bool { completeIfPending(body, else: alreadyCompleted) }
}

extension EventLoop {
    /// Returns a future that completes with `completion`.
    @_disfavoredOverload
    public func completed<Value>(_ completion: FutureCompletion<Value>) -> Future<Value> {
        completed(completion)
    }

    /// Returns a future that completes with `completion` when `delay` has passed. Cancelling the returned
    /// future before then stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    @_disfavoredOverload
    public func completed<Value>(
        _ completion: FutureCompletion<Value>, after delay: Duration
    ) -> Future<Value> { completed(completion, after: delay) }

    /// Runs `body` later, from the loop's ready queue. The returned future completes with the completion that
    /// `body` returns. If `body` throws, the returned future fails with that error.
    @_disfavoredOverload
    public func flatSubmit<Value>(_ body: @escaping () throws -> FutureCompletion<Value>) -> Future<Value> {
        flatSubmit(body)
    }
}
