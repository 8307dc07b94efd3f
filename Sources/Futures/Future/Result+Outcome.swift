extension Result where Failure == any Error {
    /// Creates a result from the arguments of a callback. If `error` is not `nil`, the result is a failure
    /// with that error. If `error` is `nil` and `value` is not, the result is a success with `value`.
    ///
    /// If both are `nil`, the result is a failure with ``FutureError/invalidCallback``.
    ///
    /// ```swift
    /// download("index") { data, error in promise.complete(Result(data, error).map(hash)) }
    /// ```
    public init(_ value: Success?, _ error: (any Error)?) {
        if error == nil, let value {
            self = .success(value)
        } else {
            self = .failure(error ?? FutureError.invalidCallback)
        }
    }

    /// The value if this is a success, and `nil` otherwise.
    public var value: Success? { try? get() }

    public var isSuccess: Bool { thrownError == nil }

    /// Whether this result is a failure that represents cancellation, such as a `CancellationError`. A future
    /// that completes with such a result is cancelled.
    public var isCancelled: Bool { thrownError?.isCancellation == true }
}

extension Future {
    /// Whether the future has completed with a value.
    public var isSuccess: Bool { cell.hasSucceeded }

    /// Whether the future has failed. Cancellation does not count as a failure.
    public var isFailure: Bool { cell.checkedRoot.state == .failure }

    /// Whether the future has been cancelled.
    public var isCancelled: Bool { cell.checkedRoot.state == .cancelled }
}
