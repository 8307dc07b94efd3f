extension Future {
    /// Converts this future to a future that fails only with a `Failure`. An error that is a `Failure` stays
    /// as it is. Any other error becomes the `Failure` that `convert` returns. If this future is cancelled,
    /// the returned future is cancelled too.
    ///
    /// ```swift
    /// let page = fetch("index").typed(FutureError.self) { .message("\($0)") }
    /// ```
    public func typed<Failure: Error>(
        _: Failure.Type, else convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> { typed { error in error as? Failure ?? convert(error) } }

    /// Converts this future to a future that fails only with a `Failure`: with the `Failure` that `convert`
    /// returns for the error of this future. If this future is cancelled, the returned future is cancelled
    /// too.
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
    /// A ``Future`` with the same outcome as this future. It fails with a `Failure` as this future does. If this
    /// future is broken (``FutureFailure/broken(_:)``), it fails with the error that broke this future.
    public var erased: Future<Value> { outcome.map { result in try result.get() } }
}
