extension Future {
    /// Completes `promise`, if there is one, using this future, as ``Promise/complete(using:)`` does.
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
