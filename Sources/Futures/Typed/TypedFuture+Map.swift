extension TypedFuture {
    /// Transforms the value with `transform`. If `transform` throws, the returned future fails with that
    /// failure. If this future fails or is cancelled, the returned future fails or is cancelled too.
    public func map<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedFuture<NewValue, Failure> {
        mapResult(on: context, token: token) { (result) throws(Failure) in try transform(try result.get()) }
    }

    /// Calls `transform` with the value, and passes on the outcome of the future that `transform` returns. If
    /// `transform` throws, the returned future fails with that failure.
    ///
    /// `transform` may call the function that contains this `flatMap`. Such a repetition runs in constant
    /// memory, no matter how often the function calls itself. Traps if the future that `transform` returns
    /// belongs to a different loop from the loop of this future.
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws(Failure) -> TypedFuture<NewValue, Failure>
    ) -> TypedFuture<NewValue, Failure> {
        let loop = loop
        return flatMapResult(on: context, token: token) { result in
            do throws(Failure) {
                return try transform(result.get())
            } catch {
                return .failed(error, on: loop)
            }
        }
    }

    /// Transforms the failure of this future with `transform`. If this future has a value, the returned
    /// future has the same value.
    public func mapError<NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Failure) -> NewFailure
    ) -> TypedFuture<Value, NewFailure> {
        .init(outcome.map(on: context, token: token) { result in result.mapError(transform) })
    }

    /// Transforms the failure of this future to the given type with `transform`. Use this method if another
    /// call follows in the chain: the compiler then cannot infer the type from the closure. If this future
    /// has a value, the returned future has the same value.
    ///
    /// ```swift
    /// let page = fetch("index").typed { _ in Failure() }
    ///     .mapError(to: FutureError.self) { .message("\($0)") }
    /// ```
    public func mapError<NewFailure: Error>(
        to _: NewFailure.Type, on context: LocalContext = .default,
        token: CancellationToken = .none, _ transform: @escaping (Failure) -> NewFailure
    ) -> TypedFuture<Value, NewFailure> { mapError(on: context, token: token, transform) }

    /// Calls `transform` with the failure, and passes on the outcome of the future that `transform` returns.
    /// If this future has a value, the returned future has the same value.
    public func flatMapError<NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Failure) -> TypedFuture<Value, NewFailure>
    ) -> TypedFuture<Value, NewFailure> {
        let loop = loop
        return flatMapResult(on: context, token: token) { result in
            switch result {
            case .success(let value): .succeeded(value, on: loop)
            case .failure(let failure): transform(failure)
            }
        }
    }

    /// Replaces the failure with the value that `body` returns for the failure. If `body` throws, the
    /// returned future fails with the error that `body` throws. If `body` cannot throw, the returned future
    /// cannot fail. If this future has a value, the returned future has the same value.
    ///
    /// ```swift
    /// let page: TypedFuture<Data, Never> = fetch("index").typed { _ in Failure() }.recover { _ in Data() }
    /// ```
    public func recover<NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Failure) throws(NewFailure) -> Value
    ) -> TypedFuture<Value, NewFailure> {
        mapResult(on: context, token: token) { (result) throws(NewFailure) in
            switch result {
            case .success(let value): value
            case .failure(let failure): try body(failure)
            }
        }
    }

    /// Transforms the outcome of this future, value or failure, with `body`. If `body` throws, the returned
    /// future fails with that error. If this future is cancelled, `body` is not called, and the returned
    /// future is cancelled too.
    public func mapResult<NewValue, NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, Failure>) throws(NewFailure) -> NewValue
    ) -> TypedFuture<NewValue, NewFailure> {
        let result = outcome.map(on: context, token: token) { result in
            Result { () throws(NewFailure) in try body(result) }
        }
        return TypedFuture<NewValue, NewFailure>(result)
    }

    /// Calls `body` with the outcome of this future, value or failure, and passes on the outcome of the
    /// future that `body` returns. If this future is cancelled, `body` is not called, and the returned future
    /// is cancelled too.
    public func flatMapResult<NewValue, NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedFuture<NewValue, NewFailure> {
        .init(outcome.flatMap(on: context, token: token) { result in body(result).outcome })
    }
}

extension TypedFuture where Failure == Never {
    /// Converts this future, which cannot fail, to a future with the failure type `NewFailure`. The outcome
    /// stays the same. Use this method where a future with the failure type `NewFailure` is needed.
    public func promoteError<NewFailure: Error>(
        to _: NewFailure.Type = NewFailure.self
    ) -> TypedFuture<Value, NewFailure> {
        .init(outcome.map { result in .success(result.get()) })
    }
}
