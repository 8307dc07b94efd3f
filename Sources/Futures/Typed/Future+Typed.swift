extension Future {
    /// Converts this future to a future that fails only with a `Failure`. If the error of this future is a
    /// `Failure`, it stays as it is. Any other error becomes the `Failure` that `convert` returns. If this
    /// future is cancelled, the returned future is cancelled too.
    ///
    /// ```swift
    /// let page = fetch("index").typed(FutureError.self) { .message("\($0)") }
    /// ```
    public func typed<Failure: Error>(
        _: Failure.Type, else convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> { typed { error in error as? Failure ?? convert(error) } }

    /// Converts this future to a future that fails only with the `Failure` that `convert` returns for an
    /// error. If this future is cancelled, the returned future is cancelled too.
    ///
    /// `convert` gets every error of this future, including ``FutureError/brokenPromise(file:line:)``.
    /// Therefore no error of this future makes the returned future end as ``FutureFailure/broken(_:)``.
    public func typed<Failure: Error>(
        _ convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> {
        let step = MapResultStep<Value, Result<Value, Failure>> { result in result.mapError(convert) }
        return TypedFuture<Value, Failure>(cell.derive(step, when: [.success, .failure]))
    }
}

extension TypedFuture {
    /// A future that has the same outcome as this future, and that can fail with any error. If this future is
    /// broken, the other future fails with the error that broke this future.
    public var erased: Future<Value> { outcome.map { result in try result.get() } }
}
