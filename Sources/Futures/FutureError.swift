/// Why this library, rather than the operation itself, failed a future.
public enum FutureError: Error, Hashable {
    /// The promise, made at this place, was dropped without completing its future.
    case brokenPromise(file: String, line: UInt)
    /// The future was completed with itself, directly or around a circle.
    case cycle
    /// The time limit passed first.
    case timedOut(after: Duration)
    /// `filter` found that the value does not satisfy its predicate.
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
