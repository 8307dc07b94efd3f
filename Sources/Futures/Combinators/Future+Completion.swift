// These overloads are for closures that return a `FutureCompletion` by a leading dot: `flatMap { $0 > 0 ?
// .success($0) : .cancelled }`. The compiler chooses them if no other overload fits. They call the overloads
// for any `Completing`.
extension Future {
    /// Calls `transform` with the value, and completes the returned future as the result of `transform` says.
    /// If `transform` throws, the returned future fails with that error.
    @_disfavoredOverload
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMap(on: context, token: token, transform)
    }

    /// Calls `body` with any outcome of this future, and completes the returned future as the result of
    /// `body` says.
    @_disfavoredOverload
    public func flatMapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<NewValue>
    ) -> Future<NewValue> {
        flatMapResult(on: context, token: token, body)
    }

    /// Calls `body` with the error, and completes the returned future as the result of `body` says. Passes a
    /// value on unchanged.
    @_disfavoredOverload
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Value>
    ) -> Future<Value> {
        flatMapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the value. Passes the value on after the completion that `body` returns has
    /// succeeded.
    @_disfavoredOverload
    public func flatTap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTap(on: context, token: token, body)
    }

    /// Calls `body` with the error. Passes the error on after the completion that `body` returns has
    /// succeeded.
    @_disfavoredOverload
    public func flatTapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapError(including: policy, on: context, token: token, body)
    }

    /// Calls `body` with the outcome. Passes the outcome on after the completion that `body` returns has
    /// succeeded.
    @_disfavoredOverload
    public func flatTapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatTapResult(on: context, token: token, body)
    }

    /// Calls `body` after any outcome. Passes the outcome on after the clean-up that `body` returns has
    /// succeeded.
    @_disfavoredOverload
    public func flatAlways(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> FutureCompletion<Void>
    ) -> Future<Value> {
        flatAlways(on: context, token: token, body)
    }
}
