/// The reason why a ``TypedFuture`` has no value: it has failed with a `Failure`, was cancelled, or is
/// broken. Every typed future can be cancelled or broken, whatever its failure type is.
///
/// A future with the failure type `Never` cannot fail. For such a future, a `switch` needs no `case
/// .failure`, because that case cannot occur.
public enum FutureFailure<Failure: Error>: Error {
    /// The future failed with a `Failure`.
    case failure(Failure)
    /// The future was cancelled, or the task that awaited the future was cancelled.
    case cancelled
    /// The future is broken: it has ended with an error that is not a `Failure`. In most cases, the reason is
    /// that nothing is left that could complete the future. The error says why:
    /// ``FutureError/brokenPromise(file:line:)``, ``FutureError/shutDown`` or another ``FutureError``.
    case broken(any Error)

    /// Creates the failure for `error`, the error of a future that is cancelled or broken.
    init(untyped error: any Error) { self = error.isCancellation ? .cancelled : .broken(error) }
}

extension FutureFailure: CancellationIndicating {
    public var isCancellation: Bool { if case .cancelled = self { true } else { false } }
}

extension FutureFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failure(let failure): "\(failure)"
        case .cancelled: "cancelled"
        case .broken(let error): "broken: \(error)"
        }
    }
}
