/// The reading side of an outcome that comes later: a value, an error, or cancellation.
///
/// A future belongs to the loop that made it. Use a future only on the thread of its loop: on other threads
/// its methods trap. A future completes exactly once: with a value, with an error, or as cancelled. Code that
/// reads the outcome of a cancelled future gets a `CancellationError`.
///
/// The loop calls the closures that you register on a future. These calls come later: never inside the call
/// that registers a closure, and never inside the call that completes the future. Only the closures that you
/// register on ``LocalContext/immediate`` can run inside these calls. The closures of one future are called
/// in the order in which they were registered.
///
/// All copies of a future refer to the same future. Releasing a future does not cancel the work behind it.
public struct Future<Value> {
    @usableFromInline let cell: Cell

    @inlinable
    init(_ cell: Cell) { self.cell = cell }

    /// The loop that the future belongs to.
    public var loop: EventLoop { cell.loop }

    /// Whether the future has completed: with a value, with an error, or as cancelled.
    public var isCompleted: Bool { cell.isCompleted }

    /// Whether the future has completed with a value.
    @inlinable @inline(__always)
    package var hasSucceeded: Bool { cell.hasSucceeded }

    /// The outcome, or `nil` while the future is pending. Reading a failure here does not count as handling
    /// it: the failure is still reported as unhandled.
    @inlinable
    public var result: Result<Value, any Error>? { cell.result(as: Value.self) }

    /// Asks this future to cancel. Returns `false`, and changes nothing, if this future has completed, or if
    /// other code waits for this future.
    ///
    /// The request goes upstream: from this future to the future that it was derived from, and so on. If
    /// other code waits for one of these futures, the request reaches neither that future nor any future
    /// upstream of it. If the request reaches a promise with a handler for requests
    /// (`Promise.onCancelRequest`), that handler decides what happens. If the request reaches no such
    /// promise, this future and all futures that the request has reached are cancelled now. Their closures
    /// are released without running. Closures that also run on cancellation, such as the closure of `always`,
    /// still run.
    ///
    /// To stop waiting for a future that other code needs, cancel a future that is derived from it, such as
    /// the future that ``branch()`` returns.
    @discardableResult
    public func cancel() -> Bool { cell.requestCancellation() }

    /// Marks a failure of this future as handled, so that the loop never reports it as unhandled. Returns
    /// this future.
    @discardableResult
    public func ignoreFailure() -> Future {
        cell.markObserved()
        return self
    }
}

@available(
    *, unavailable, message: "A future belongs to its loop's thread; go there with loop.execute { … }."
)
extension Future: Sendable {}

extension Future: Identifiable {
    /// The identity of this future. All copies of this future have the same identity. As long as a copy
    /// exists, no other future has this identity.
    public var id: ObjectIdentifier { ObjectIdentifier(cell) }
}

extension Future: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "Future(\(state))" }

    /// A text that describes the future and the type of its value. For a pending future, the text also says
    /// how many consumers wait for the future. Consumers are derived futures, groups, observers and awaiting
    /// tasks.
    public var debugDescription: String {
        let waiting = isCompleted ? "" : ", \(cell.checkedRoot.consumerCount) waiting"
        return "Future<\(Value.self)>(\(state)\(waiting))"
    }

    private var state: String {
        switch result {
        case nil: "pending"
        case .success(let value): "success: \(value)"
        case .failure(is CancellationError): "cancelled"
        case .failure(let error): "failure: \(error)"
        }
    }
}
