extension Future {
    /// Lets this future complete `promise`, as ``Promise/complete(using:)`` does. Does nothing without one.
    public func cascade(to promise: Promise<Value>?) {
        guard let promise else { return }
        ignoreFailure()
        promise.complete(using: self)
    }

    /// Completes `promise`, if there is one, with the value, if there will be one.
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
    /// Makes `promise` hear of what completes this promise too; if this is `nil`, it becomes `promise`.
    public mutating func setOrCascade<Value>(to promise: Promise<Value>?) where Wrapped == Promise<Value> {
        guard let promise else { return }
        if let self {
            self.future.cascade(to: promise)
        } else {
            self = promise
        }
    }
}
