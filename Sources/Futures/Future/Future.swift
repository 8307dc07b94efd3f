/// The reading side of a value that will be there later, or of the reason why it will not.
///
/// A future belongs to the loop that made it. Use it only on that loop's thread: elsewhere its methods trap. It
/// completes exactly once: with a value, with an error, or as cancelled, which reads as `CancellationError`. What you
/// register is called later, from the loop, never inside the call that registers or completes, unless you ask for
/// ``LocalContext/immediate``. Callbacks of one future
/// run in the order in which they were registered.
///
/// Copies of a future are the same future. Releasing it cancels nothing.
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

    /// The outcome, or `nil` while the future is pending. Reading it does not count as having heard of a failure.
    @inlinable
    public var result: Result<Value, any Error>? {
        cell.result(as: Value.self)
    }

    /// Asks for the future to be cancelled. Returns `false` if it has completed or if somebody waits for it.
    ///
    /// The request goes upstream as long as nobody else waits for the next future. A producer that handles requests
    /// (`Promise.onCancelRequest`) decides. Without such a producer, this future and all that the request has reached
    /// are cancelled now, and their closures are released without running. To stop waiting for a future that others
    /// need, cancel a future derived from it.
    @discardableResult
    public func cancel() -> Bool { cell.requestCancellation() }

    /// Declares that a failure of this future may go unheard.
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
    /// The identity of the future. Its copies share it, and no other future has it as long as this one is held.
    public var id: ObjectIdentifier { ObjectIdentifier(cell) }
}

extension Future: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "Future(\(state))" }

    /// The description with the type and, for a pending future, the number of consumers that wait.
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
