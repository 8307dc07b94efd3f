extension TypedFuture {
    /// A future of what `transform` makes of the value, or of the failure it throws. Cancellation passes.
    public func map<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedFuture<NewValue, Failure> {
        mapResult(on: context, token: token) { (result) throws(Failure) in try transform(try result.get()) }
    }

    /// A future with the outcome of the one that `transform` returns, or of the failure it throws.
    ///
    /// A loop of `flatMap`s runs in constant memory, as with `Future.flatMap`. Traps if the returned future
    /// is of another loop.
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws(Failure) -> TypedFuture<NewValue, Failure>
    ) -> TypedFuture<NewValue, Failure> {
        let loop = loop
        return flatMapResult(on: context, token: token) { result in
            do throws(Failure) {
                return try transform(try result.get())
            } catch {
                return .failed(error, on: loop)
            }
        }
    }

    /// A future of the value, or of what `transform` makes of the failure.
    public func mapError<NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Failure) -> NewFailure
    ) -> TypedFuture<Value, NewFailure> {
        TypedFuture<Value, NewFailure>(
            outcome.map(on: context, token: token) { result in result.mapError(transform) })
    }

    /// The same, where the failure's type is named: the compiler has to know it before the next link of a chain,
    /// and takes it from no closure.
    public func mapError<NewFailure: Error>(
        to _: NewFailure.Type, on context: LocalContext = .default,
        token: CancellationToken = .none, _ transform: @escaping (Failure) -> NewFailure
    ) -> TypedFuture<Value, NewFailure> {
        mapError(on: context, token: token, transform)
    }

    /// A future of the value, or with the outcome of the future that `transform` returns for the failure.
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

    /// A future of the value, or of what `body` makes of the failure. It cannot fail, unless `body` throws: then it
    /// fails with that.
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

    /// A future of what `body` makes of the outcome, value or failure. Cancellation passes.
    public func mapResult<NewValue, NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, Failure>) throws(NewFailure) -> NewValue
    ) -> TypedFuture<NewValue, NewFailure> {
        TypedFuture<NewValue, NewFailure>(
            outcome.map(on: context, token: token) { result in
                Result { () throws(NewFailure) in try body(result) }
            })
    }

    /// A future with the outcome of the one that `body` makes of the outcome, value or failure. Cancellation passes.
    public func flatMapResult<NewValue, NewFailure: Error>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedFuture<NewValue, NewFailure> {
        TypedFuture<NewValue, NewFailure>(
            outcome.flatMap(on: context, token: token) { result in body(result).outcome })
    }
}

extension TypedFuture where Failure == Never {
    /// The same future, as one that may fail: for a place that asks for futures of `NewFailure`.
    public func promoteError<NewFailure: Error>(
        to _: NewFailure.Type = NewFailure.self
    ) -> TypedFuture<Value, NewFailure> {
        TypedFuture<Value, NewFailure>(
            outcome.map { result in
                switch result {
                case .success(let value): .success(value)
                }
            })
    }
}
