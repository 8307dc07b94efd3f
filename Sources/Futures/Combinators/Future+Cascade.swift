extension Future {
    /// Completes `promise` using this future, as ``Promise/complete(using:)`` does. Does nothing if `promise` is `nil`.
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
