extension TypedFuture {
    /// Calls `body` with the outcome.
    public func whenComplete(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, FutureFailure<Failure>>) -> Void
    ) {
        outcome.whenComplete(on: context, token: token) { body(Self.flattened($0)) }
    }

    /// Calls `body` with the value, if there will be one.
    public func whenSuccess(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) -> Void
    ) {
        outcome.whenSuccess(on: context, token: token) { result in
            if case .success(let value) = result { body(value) }
        }
    }

    /// Calls `body` with the failure, if the future fails as its type says. That it is broken is still reported
    /// to ``EventLoop/onUnhandledFailure``, if nobody else hears of it.
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

    /// Calls `body` if the future is cancelled.
    public func whenCancelled(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) {
        outcome.whenCancelled(on: context, token: token, body)
    }

    /// A future with this outcome, which completes after `body` has seen the value. What `body` throws replaces it.
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws(Failure) -> Void
    ) -> TypedFuture {
        map(on: context, token: token) { (value) throws(Failure) in
            try body(value)
            return value
        }
    }

    /// A future with this outcome, which completes after `body` has seen the failure.
    public func tapError(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Failure) -> Void
    ) -> TypedFuture {
        mapError(on: context, token: token) { failure in
            body(failure)
            return failure
        }
    }

    /// A future with this outcome, which completes after `body` has run, as with `Future.always`.
    public func always(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) -> TypedFuture {
        TypedFuture(outcome.always(on: context, token: token, body))
    }
}
