extension Future {
    /// This future as one that fails with a `Failure` only: with its own error if that is one, otherwise with what
    /// `convert` makes of it. Cancellation passes.
    public func typed<Failure: Error>(
        _: Failure.Type, else convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> {
        typed { error in error as? Failure ?? convert(error) }
    }

    /// This future as one that fails only with what `convert` makes of its error. Cancellation passes.
    ///
    /// `convert` sees every error, ``FutureError/brokenPromise(file:line:)`` too: the result is never broken by
    /// what happens to this future.
    public func typed<Failure: Error>(
        _ convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> {
        let step = MapResultStep<Value, Result<Value, Failure>> { result in result.mapError(convert) }
        return TypedFuture<Value, Failure>(cell.derive(step, when: [.success, .failure]))
    }
}

extension TypedFuture {
    /// This future as one of any error, with the same outcome. What broke it is the error that it fails with.
    public var erased: Future<Value> {
        outcome.map { result in try result.get() }
    }
}
