/// The reading side of a value that will be available later, or of the reason why there will be no value.
///
/// A future belongs to the loop that made it. Use a future only on the thread of its loop: on other threads
/// its methods trap. A future completes exactly once: with a value, with an error, or as cancelled.
/// Cancellation reads as `CancellationError`.
///
/// The closures that you register are called later, from the loop. They are not called inside the call that
/// registers them, nor inside the call that completes the future. Only closures that you register on
/// ``LocalContext/immediate`` can be called there. The closures of one future are called in the order in
/// which they were registered.
///
/// Copies of a future are the same future. Releasing a future does not cancel anything.
public struct Future<Value> {
    @usableFromInline let cell: Cell

    @inlinable
    init(_ cell: Cell) { self.cell = cell }

    /// The loop that the future belongs to.
    public var loop: EventLoop { cell.loop }

    /// Whether the future has completed in any way.
    public var isCompleted: Bool { cell.isCompleted }

    /// Whether the future has completed with a value.
    @inlinable @inline(__always)
    package var hasSucceeded: Bool { cell.hasSucceeded }

    /// The outcome, or `nil` while the future is pending. Reading the outcome does not count as handling a
    /// failure.
    @inlinable
    public var result: Result<Value, any Error>? { cell.result(as: Value.self) }

    /// Asks for this future to be cancelled. Returns `false` if this future has completed, or if something
    /// waits for it.
    ///
    /// The request goes upstream from future to future, as long as nothing else waits for the next future. If
    /// the request reaches a producer that handles requests (`Promise.onCancelRequest`), that producer
    /// decides what happens. If the request reaches no such producer, this future and all futures that the
    /// request has reached are cancelled now. Their closures are released without running, except those that
    /// also run on cancellation, such as the closure of `always`.
    ///
    /// To stop waiting for a future that others need, cancel a future that is derived from it.
    @discardableResult
    public func cancel() -> Bool { cell.requestCancellation() }

    /// Declares that nothing needs to handle a failure of this future, and returns this future.
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
    /// The identity of this future. Copies of this future have the same identity. No other future has it as
    /// long as this future is held.
    public var id: ObjectIdentifier { ObjectIdentifier(cell) }
}

extension Future: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "Future(\(state))" }

    /// The description with the type of the value. For a pending future, also says how many consumers wait
    /// for it.
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
