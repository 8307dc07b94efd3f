extension Future {
    /// Completes the future of `promise` with the outcome of this future, as ``Promise/complete(using:)``
    /// does. If `promise` is `nil`, does nothing.
    ///
    /// ```swift
    /// fetch("index").map(hash).cascade(to: promise)
    /// ```
    public func cascade(to promise: Promise<Value>?) {
        guard let promise else { return }
        ignoreFailure()
        promise.complete(using: self)
    }
}
