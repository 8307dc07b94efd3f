/// An object that completes a cell later. A cell asks its producer before it is cancelled, and tells its
/// producer when it has completed.
@usableFromInline
package class Producer {
    /// The answer of a producer to a request to cancel.
    enum Answer {
        /// Cancels the future now.
        case cancel
        /// Cancels nothing: the producer has completed the future, or will complete it.
        case willComplete
        /// Leaves the decision to the producers further upstream.
        case undecided
    }

    @usableFromInline init() {}

    /// Answers a request to cancel `cell`. Unless overridden, cancels it if the producer answers requests.
    func cancellationRequested(by cell: CellPointer) -> Answer { answersRequests ? .cancel : .undecided }

    /// Answers a request to cancel `cell`, with the options of that request. Unless overridden, ignores the
    /// options.
    func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        cancellationRequested(by: cell)
    }

    /// The thing that a producer waits for before it completes its cell: another cell, or an event from an object.
    enum Awaited {
        case cell(CellPointer)
        case object(AnyObject)
    }

    /// The one thing that the producer waits for. `nil` if there is not just one, or if it cannot tell.
    var awaited: Awaited? { nil }

    /// All things that the producer waits for, as far as it can tell.
    var allAwaited: [Awaited] { awaited.map { [$0] } ?? [] }

    /// The name of what the producer does, for a snapshot.
    var nameInSnapshot: String? { subject }

    /// Whether the producer answers requests to cancel.
    var answersRequests: Bool { true }

    /// The subject of the report of an unhandled failure, or `nil`.
    var subject: String? { nil }

    /// Hears that `cell`, a timer of the loop, is due.
    func timeIsUp(for cell: Cell) {}

    /// Hears that the cell has completed, with any outcome.
    func settled() {}
}
