extension Result where Failure == any Error {
    /// Creates a result from what a callback was given: the error if there is one, or else the value.
    ///
    /// Fails with ``FutureError/invalidCallback`` if there is neither.
    ///
    /// ```swift
    /// download("index") { data, error in promise.complete(Result(data, error).map(hash)) }
    /// ```
    public init(_ value: Success?, _ error: (any Error)?) {
        if let error {
            self = .failure(error)
        } else if let value {
            self = .success(value)
        } else {
            self = .failure(FutureError.invalidCallback)
        }
    }

    /// The value, if this is a success.
    public var value: Success? { try? get() }

    public var isSuccess: Bool { thrownError == nil }

    /// Whether this result stands for cancellation. A future that completes with it is cancelled.
    public var isCancelled: Bool { thrownError?.isCancellation == true }

    /// The error that `get()` throws.
    var thrownError: (any Error)? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}

extension Future {
    /// Whether the future has completed with a value.
    public var isSuccess: Bool { cell.hasSucceeded }

    /// Whether the future has failed. Cancellation does not count as a failure.
    public var isFailure: Bool { cell.checkedRoot.state == .failure }

    /// Whether the future has been cancelled.
    public var isCancelled: Bool { cell.checkedRoot.state == .cancelled }
}
