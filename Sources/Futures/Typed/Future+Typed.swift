extension Future {
    /// Converts this future to one that fails with a `Failure` only. An error that is a `Failure` stays as it is.
    /// `convert` makes a `Failure` of any other error. Cancellation passes.
    ///
    /// ```swift
    /// let page = fetch("index").typed(FutureError.self) { .message("\($0)") }
    /// ```
    public func typed<Failure: Error>(
        _: Failure.Type, else convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> {
        typed { error in error as? Failure ?? convert(error) }
    }

    /// Converts this future to one that fails only with what `convert` makes of its error. Cancellation passes.
    ///
    /// `convert` sees every error, ``FutureError/brokenPromise(file:line:)`` too. So nothing that happens to this
    /// future breaks the result.
    public func typed<Failure: Error>(
        _ convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> {
        let step = MapResultStep<Value, Result<Value, Failure>> { result in result.mapError(convert) }
        return TypedFuture<Value, Failure>(cell.derive(step, when: [.success, .failure]))
    }
}

extension TypedFuture {
    /// This future with the same outcome, but able to fail with any error. If it is broken, it fails with the error
    /// that broke it.
    public var erased: Future<Value> {
        outcome.map { result in try result.get() }
    }
}
