/// An error that holds two errors: the error of a future, and the error of the clean-up that ran after it.
///
/// Methods such as `flatAlways`, `flatTapError` and `tapError` call a closure when a future has completed,
/// and then pass on the outcome of that future. The closure is the clean-up. The clean-up fails if the
/// closure throws, or if the future that the closure returns fails or is cancelled. If first the future and
/// then the clean-up fails, the returned future fails with this error.
public struct CleanUpError: Error {
    /// The error of the future, which failed before the clean-up began.
    public let error: any Error
    /// The error of the clean-up. If the clean-up was cancelled, this error is a `CancellationError`.
    public let cleanUpError: any Error

    public init(_ error: any Error, cleanUpError: any Error) {
        self.error = error
        self.cleanUpError = cleanUpError
    }
}

extension CleanUpError: CustomStringConvertible {
    public var description: String { "\(error); and the clean-up after that failed: \(cleanUpError)" }
}
