// For closures that say how to complete by a leading dot: `flatMap { $0 > 0 ? .success($0) : .cancelled }`. They are
// taken where nothing else fits, and call the methods for any `Completing`.
extension Future {
    /// Completes in the way that `transform` returns for the value, or with the error it throws.
    @_disfavoredOverload
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMap(on: context, token: token, transform)
    }

    /// Completes in the way that `body` returns for any outcome of this future.
    @_disfavoredOverload
    public func flatMapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMapResult(on: context, token: token, body)
    }

    /// Completes with the value, or in the way that `body` returns for the error.
    @_disfavoredOverload
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Value>
    ) -> Future<Value> {
        flatMapError(including: policy, on: context, token: token, body)
    }

    /// Passes the outcome on after the completion that `body` returns for the value has succeeded.
    @_disfavoredOverload
    public func flatTap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTap(on: context, token: token, body)
    }

    /// Passes the outcome on after the completion that `body` returns for the error has succeeded.
    @_disfavoredOverload
    public func flatTapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapError(including: policy, on: context, token: token, body)
    }

    /// Passes the outcome on after the completion that `body` returns for it has succeeded.
    @_disfavoredOverload
    public func flatTapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapResult(on: context, token: token, body)
    }

    /// Passes the outcome on after the clean-up that `body` returns has succeeded.
    @_disfavoredOverload
    public func flatAlways(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatAlways(on: context, token: token, body)
    }
}
