// These overloads are for closures that return a `FutureCompletion` by a leading dot: `flatMap { $0 > 0 ?
// .success($0) : .cancelled }`. The compiler chooses them if no other overload fits. They call the overloads
// for any `Completing`.
extension Future {
    /// Calls `transform` with the value, and completes the returned future with the completion that
    /// `transform` returns. If `transform` throws, the returned future fails with that error.
    @_disfavoredOverload
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMap(on: context, token: token, transform)
    }

    /// Calls `body` with the outcome of this future, and completes the returned future with the completion
    /// that `body` returns. `body` is called after any outcome, and gets cancellation as a
    /// `CancellationError`.
    @_disfavoredOverload
    public func flatMapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMapResult(on: context, token: token, body)
    }

    /// Calls `body` with the error of this future, and completes the returned future with the completion that
    /// `body` returns. If this future has a value, the returned future has the same value. `policy` says
    /// whether `body` is also called for a cancellation.
    @_disfavoredOverload
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Value>
    ) -> Future<Value> {
        flatMapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the value, and waits for the completion that `body` returns. Then passes the value
    /// on. If `body` throws, the returned future fails with that error. If the completion is a failure or a
    /// cancellation, the returned future fails with the same error or is cancelled.
    @_disfavoredOverload
    public func flatTap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTap(on: context, token: token, body)
    }

    /// Calls `body` with the error, and waits for the completion that `body` returns. Then passes the error
    /// on. `policy` says whether `body` is also called for a cancellation.
    ///
    /// If `body` throws, or the completion is a failure or a cancellation, the returned future fails with a
    /// ``CleanUpError``, which holds both errors. If this future was cancelled, there is no ``CleanUpError``:
    /// the returned future then fails with the error of `body` or of the completion, or is cancelled.
    @_disfavoredOverload
    public func flatTapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the outcome, and waits for the completion that `body` returns. Then passes the
    /// outcome on. `body` gets cancellation as a `CancellationError`.
    ///
    /// If `body` throws, or the completion is a failure or a cancellation, the outcome is not passed on. The
    /// returned future then fails with the error of `body` or of the completion, or is cancelled. If this
    /// future had failed too, the returned future fails with a ``CleanUpError``, which holds both errors.
    @_disfavoredOverload
    public func flatTapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapResult(on: context, token: token, body)
    }

    /// Calls `body` after any outcome, and waits for the clean-up that `body` returns. Then passes the
    /// outcome on.
    ///
    /// If `body` throws, or the clean-up is a failure or a cancellation, the outcome is not passed on. The
    /// returned future then fails with the error of `body` or of the clean-up, or is cancelled. If this
    /// future had failed too, the returned future fails with a ``CleanUpError``, which holds both errors.
    @_disfavoredOverload
    public func flatAlways(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatAlways(on: context, token: token, body)
    }
}
