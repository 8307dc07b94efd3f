extension Future {
    /// Converts this future to a future that fails only with errors of the type `Failure`. If the error of
    /// this future is a `Failure`, the error stays as it is. Otherwise `convert` turns the error into a
    /// `Failure`. If this future is cancelled, the returned future is cancelled too.
    ///
    /// ```swift
    /// let page = fetch("index").typed(FutureError.self) { .message("\($0)") }
    /// ```
    public func typed<Failure: Error>(
        _: Failure.Type, else convert: @escaping (any Error) -> Failure
    ) -> TypedFuture<Value, Failure> { typed { error in error as? Failure ?? convert(error) } }

    /// Converts this future to a future that fails only with errors of the type `Failure`. `convert` turns
    /// each error of this future into a `Failure`. If this future is cancelled, the returned future is
    /// cancelled too.
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
    /// A ``Future`` with the same outcome as this future. If this future fails, the ``Future`` fails with the
    /// same `Failure`. If this future is broken (``FutureFailure/broken(_:)``), the ``Future`` fails with the
    /// error that broke this future.
    public var erased: Future<Value> { outcome.map { result in try result.get() } }
}
