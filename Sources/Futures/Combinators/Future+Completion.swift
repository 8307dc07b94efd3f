// For closures that say how to complete by a leading dot: `flatMap { $0 > 0 ? .success($0) : .cancelled }`. They are
// taken where nothing else fits, and call the methods for any `Completing`.
extension Future {
    /// Calls `transform` with the value, and completes the returned future in the way that `transform` returns. If
    /// `transform` throws, the returned future fails with that error.
    @_disfavoredOverload
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMap(on: context, token: token, transform)
    }

    /// Calls `body` with any outcome of this future, and completes the returned future in the way that `body` returns.
    @_disfavoredOverload
    public func flatMapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMapResult(on: context, token: token, body)
    }

    /// Replaces an error by completing the returned future in the way that `body` returns for the error. Passes a value
    /// on unchanged.
    @_disfavoredOverload
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Value>
    ) -> Future<Value> {
        flatMapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the value. Passes the value on when the completion that `body` returns has succeeded.
    @_disfavoredOverload
    public func flatTap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTap(on: context, token: token, body)
    }

    /// Calls `body` with the error. Passes the error on when the completion that `body` returns has succeeded.
    @_disfavoredOverload
    public func flatTapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the outcome. Passes the outcome on when the completion that `body` returns has succeeded.
    @_disfavoredOverload
    public func flatTapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapResult(on: context, token: token, body)
    }

    /// Calls `body` after any outcome. Passes the outcome on when the clean-up that `body` returns has succeeded.
    @_disfavoredOverload
    public func flatAlways(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatAlways(on: context, token: token, body)
    }
}
