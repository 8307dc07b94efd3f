extension Future {
    /// Completes `promise`, if there is one, using this future, as ``Promise/complete(using:)`` does.
    public func cascade(to promise: Promise<Value>?) {
        guard let promise else { return }
        ignoreFailure()
        promise.complete(using: self)
    }

    /// Completes `promise`, if there is one, with the value if this future succeeds.
    public func cascadeSuccess(to promise: Promise<Value>?) {
        guard let promise else { return }
        whenSuccess { promise.succeed($0) }
    }

    /// Fails or cancels `promise`, if there is one, when this future fails or is cancelled.
    public func cascadeFailure<Other>(to promise: Promise<Other>?) {
        guard let promise else { return }
        whenComplete { result in
            if let error = result.thrownError { promise.fail(error) }
        }
    }
}

extension Optional {
    /// Completes `promise` with the outcome of this promise as well. If this is `nil`, sets it to `promise` instead.
    public mutating func setOrCascade<Value>(to promise: Promise<Value>?) where Wrapped == Promise<Value> {
        guard let promise else { return }
        if let self {
            self.future.cascade(to: promise)
        } else {
            self = promise
        }
    }
}
