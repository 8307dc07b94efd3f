extension TypedFuture {
    /// Calls `body` with the outcome when this future completes. If the outcome is not a value, `body` gets a
    /// ``FutureFailure``.
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

    /// Calls `body` with the failure if this future fails with a `Failure`. If this future is cancelled,
    /// `body` is not called. If this future ends as ``FutureFailure/broken(_:)``, `body` is not called
    /// either, and ``EventLoop/onUnhandledFailure`` gets the error.
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

    /// Calls `body` with the value, then passes the same value on. If `body` throws, the returned future
    /// fails with the failure that `body` throws. Any other outcome is passed on without a call.
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws(Failure) -> Void
    ) -> TypedFuture {
        map(on: context, token: token) { (value) throws(Failure) in
            try body(value)
            return value
        }
    }

    /// Calls `body` with the failure, then passes the same failure on. Any other outcome is passed on without
    /// a call.
    public func tapError(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Failure) -> Void
    ) -> TypedFuture {
        mapError(on: context, token: token) { failure in
            body(failure)
            return failure
        }
    }

    /// Calls `body` after any outcome, then passes the same outcome on. `body` is called exactly once, as
    /// with `Future.always`.
    public func always(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) -> TypedFuture { TypedFuture(outcome.always(on: context, token: token, body)) }
}
