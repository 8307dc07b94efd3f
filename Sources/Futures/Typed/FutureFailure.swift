/// The reason why a typed future has no value: a failure of its own type, or one of the two ends that no type
/// excludes.
///
/// For a future that cannot fail, with the failure type `Never`, the first case is uninhabited: a `switch` needs only
/// the others.
public enum FutureFailure<Failure: Error>: Error {
    /// The future failed, as its type says that it may.
    case failure(Failure)
    /// The future was cancelled, or the task that awaited it was.
    case cancelled
    /// Nothing completes the future any more. The error says why: ``FutureError/brokenPromise(file:line:)``,
    /// ``FutureError/shutDown`` or another ``FutureError``.
    case broken(any Error)

    /// Creates the failure for an error that is of no failure type.
    init(untyped error: any Error) {
        self = error.isCancellation ? .cancelled : .broken(error)
    }
}

extension FutureFailure: CancellationIndicating {
    public var isCancellation: Bool {
        if case .cancelled = self { true } else { false }
    }
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
