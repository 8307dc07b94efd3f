/// Why a typed future has no value: a failure of its own type, or one of the two ends that no type excludes.
///
/// For a future that cannot fail, one of `Never`, the first case is uninhabited: a `switch` needs only the others.
public enum FutureFailure<Failure: Error>: Error {
    /// It failed, as its type says that it may.
    case failure(Failure)
    /// It was cancelled, or the task that awaited it was.
    case cancelled
    /// Nothing completes it any more; the error says why, ``FutureError/brokenPromise(file:line:)``,
    /// ``FutureError/shutDown`` or another ``FutureError``.
    case broken(any Error)

    /// What an error means that no failure type speaks of.
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
