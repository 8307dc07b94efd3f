/// An error of this library itself, and not of the operation behind a future.
public enum FutureError: Error, Hashable {
    /// The promise that was made at this file and line was released without completing its future.
    case brokenPromise(file: String, line: UInt)
    /// The future waits for itself, directly or through other futures, so it could never complete.
    case cycle
    /// The future did not complete within the time limit `after`.
    case timedOut(after: Duration)
    /// An error that is described only by its text.
    case message(String)
    /// `cancellationAsFailure()` turned cancellation into this error.
    case cancellationAsFailure
    /// One of the futures that were given to `abort(when:)` as signals succeeded before this future
    /// completed.
    case aborted
    /// The value does not have the type that `cast(to:)` asks for. The texts name both types.
    case castFailed(from: String, to: String)
    /// `unwrap` found `nil`.
    case missingValue
    /// The future of `errorAsValue()` had a value, and not an error.
    case notFailed
    /// An object that the call needs has been closed or released. The text names the object.
    case closed(String)
    /// A callback was called with neither a value nor an error.
    case invalidCallback
    /// `filter` or `compactMap` rejected the value.
    case filtered
    /// The future that ``EventLoop/run(until:)`` waits for can no longer complete: the loop has nothing left
    /// to do that could complete it.
    case stalled
    /// ``EventLoop/stop()`` ended ``EventLoop/run(until:)`` before the future completed.
    case stopped
    /// The loop has been shut down.
    case shutDown
    /// An argument is not allowed. The text says which argument was given, and which arguments are allowed.
    case invalidArgument(String)
}

extension FutureError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .brokenPromise(let file, let line):
            "the promise made at \(file):\(line) was dropped without being completed; keep it until it is "
                + "completed"
        case .cycle: "a future was completed with itself; complete it with another one"
        case .timedOut(let limit): "timed out after \(limit)"
        case .message(let text): text
        case .cancellationAsFailure: "the future was cancelled"
        case .aborted: "the future was aborted by a signal"
        case .castFailed(let type, let wanted): "a value of type \(type) cannot be cast to \(wanted)"
        case .missingValue: "there is no value to unwrap"
        case .notFailed: "the future has a value, and no error"
        case .closed(let what): "the \(what) has been closed, or was dropped"
        case .invalidCallback: "the callback was called with neither a value nor an error"
        case .filtered: "the value does not satisfy the filter"
        case .stalled: "run(until:) stalled: no timer, handle or job is left that could complete the future"
        case .stopped: "the loop was stopped before the future completed"
        case .shutDown: "the event loop has been shut down; make a new one"
        case .invalidArgument(let text): text
        }
    }
}

/// Throws ``FutureError/invalidArgument(_:)`` with the text `complaint` unless `isValid` is `true`.
@inlinable
package func requireArgument(_ isValid: Bool, _ complaint: @autoclosure () -> String) throws(FutureError) {
    guard isValid else { throw .invalidArgument(complaint()) }
}

/// Throws ``FutureError/invalidArgument(_:)`` if `number`, the argument `name`, is less than `minimum`.
package func requireArgument(_ name: String, _ number: Int, atLeast minimum: Int) throws(FutureError) {
    try requireArgument(number >= minimum, "\(name) must be at least \(minimum), not \(number)")
}

/// Throws ``FutureError/invalidArgument(_:)`` if `duration`, the argument `name`, is not positive.
package func requirePositive(_ name: String, _ duration: Duration) throws(FutureError) {
    try requireArgument(duration > .zero, "\(name) must be positive, not \(duration)")
}

/// Throws ``FutureError/invalidArgument(_:)`` if `duration`, which `call` was given, is negative.
package func requireNotNegative(_ duration: Duration, givenTo call: String) throws(FutureError) {
    try requireArgument(duration >= .zero, "\(call) was given \(duration); give zero or more")
}

/// An error that can represent cancellation. If a future is completed with such an error and `isCancellation`
/// is `true`, the future is cancelled, and does not fail.
public protocol CancellationIndicating: Error {
    var isCancellation: Bool { get }
}

extension Error {
    var isCancellation: Bool {
        self is CancellationError || (self as? any CancellationIndicating)?.isCancellation == true
    }
}
