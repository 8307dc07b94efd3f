extension TypedFuture {
    /// Calls `body` with the outcome when this future completes.
    public func whenComplete(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, FutureFailure<Failure>>) -> Void
    ) { outcome.whenComplete(on: context, token: token) { body(Self.flattened($0)) } }

    /// Calls `body` with the value if this future succeeds.
    public func whenSuccess(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) -> Void
    ) {
        outcome.whenSuccess(on: context, token: token) { result in
            if case .success(let value) = result { body(value) }
        }
    }

    /// Calls `body` with the failure if this future fails with its own type of failure. If this future is
    /// broken, its error is still reported to ``EventLoop/onUnhandledFailure``, unless something else handles
    /// it.
    public func whenFailure(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Failure) -> Void
    ) {
        let cell = outcome.cell.pointer
        let step = CompleteObserver<Result<Value, Failure>> { outcome in
            switch outcome {
            case .success(.success): break
            case .success(.failure(let failure)): body(failure)
            case .failure(let error): cell.reportUnhandled(error)
            }
        }
        outcome.cell.observe(step, when: [.success, .failure], on: context, token: token)
    }

    /// Calls `body` if this future is cancelled.
    public func whenCancelled(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) { outcome.whenCancelled(on: context, token: token, body) }

    /// Calls `body` with the value, then completes with the same outcome. If `body` throws, the returned
    /// future fails with the failure that `body` throws.
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws(Failure) -> Void
    ) -> TypedFuture {
        map(on: context, token: token) { (value) throws(Failure) in
            try body(value)
            return value
        }
    }

    /// Calls `body` with the failure, then completes with the same outcome.
    public func tapError(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Failure) -> Void
    ) -> TypedFuture {
        mapError(on: context, token: token) { failure in
            body(failure)
            return failure
        }
    }

    /// Calls `body` whatever the outcome is, then completes with the same outcome, as `Future.always` does.
    public func always(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) -> TypedFuture { TypedFuture(outcome.always(on: context, token: token, body)) }
}
