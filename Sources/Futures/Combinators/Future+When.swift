extension Future {
    /// Calls `body` with the outcome when this future completes. `body` gets cancellation as
    /// `.failure(CancellationError())`.
    @inlinable
    public func whenComplete(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) -> Void
    ) {
        cell.observe(CompleteObserver(body: body), when: .all, on: context, token: token)
    }

    /// Calls `body` with the value if this future succeeds.
    @inlinable
    public func whenSuccess(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) -> Void
    ) {
        cell.observe(SuccessObserver(body: body), when: .success, on: context, token: token)
    }

    /// Calls `body` with the error if this future fails. Cancellation does not count as a failure.
    @inlinable
    public func whenFailure(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (any Error) -> Void
    ) {
        cell.observe(FailureObserver(body: body), when: .failure, on: context, token: token)
    }

    /// Calls `body` if this future is cancelled.
    @inlinable
    public func whenCancelled(
        on context: LocalContext = .default, token: CancellationToken = .none, _ body: @escaping () -> Void
    ) {
        cell.observe(JobStep(body: body), when: .cancellation, on: context, token: token)
    }
}
