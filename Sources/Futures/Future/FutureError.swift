/// Why this library, rather than the operation itself, failed a future.
public enum FutureError: Error, Hashable {
    /// The promise, made at this place, was dropped without completing its future.
    case brokenPromise(file: String, line: UInt)
    /// The future was completed with itself, directly or around a circle.
    case cycle
    /// The time limit passed first.
    case timedOut(after: Duration)
    /// This is only what the text says.
    case message(String)
    /// Cancellation that `cancellationAsFailure` has made an error of.
    case cancellationAsFailure
    /// A signal given to `abort(when:)` came before the outcome.
    case aborted
    /// The value is of a type that is not the wanted one.
    case castFailed(from: String, to: String)
    /// `unwrap` found `nil`.
    case missingValue
    /// A future of an error was asked of one that has a value.
    case notFailed
    /// What is asked of something that has been closed, or was dropped, is not done; the text says of what.
    case closed(String)
    /// A callback was called with neither a value nor an error.
    case invalidCallback
    /// `filter` or `compactMap` found that the value is not wanted.
    case filtered
    /// Nothing is left that could complete the future that `run(until:)` waits for.
    case stalled
    /// `stop()` ended `run(until:)` before its future completed.
    case stopped
    /// The loop has been shut down.
    case shutDown
    /// An argument makes no sense; the text says which, what was given, and what is allowed.
    case invalidArgument(String)
}

extension FutureError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .brokenPromise(let file, let line):
            "the promise made at \(file):\(line) was dropped without being completed; keep it until it is"
        case .cycle: "a future was completed with itself; complete it with another one"
        case .timedOut(let limit): "timed out after \(limit)"
        case .message(let text): text
        case .cancellationAsFailure: "the future was cancelled"
        case .aborted: "the future was aborted by a signal"
        case .castFailed(let type, let wanted): "a value of type \(type) is no \(wanted)"
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

/// An error that may stand for cancellation. A future that fails with one that does is cancelled instead.
public protocol CancellationIndicating: Error {
    var isCancellation: Bool { get }
}

extension Error {
    var isCancellation: Bool {
        self is CancellationError || (self as? any CancellationIndicating)?.isCancellation == true
    }
}
