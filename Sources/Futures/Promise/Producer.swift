/// An object that will complete a cell, and wants to hear of cancellation or of the end.
@usableFromInline
package class Producer {
    enum Answer {
        /// Cancels the future now.
        case cancel
        /// The producer has completed the future or will do so. All wait for it.
        case willComplete
        /// Leaves the decision to the producers further upstream.
        case undecided
    }

    @usableFromInline init() {}

    func cancellationRequested(by cell: CellPointer) -> Answer { .undecided }

    /// Answers a request like `cancellationRequested(by:)`, for a producer that uses its options.
    func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        cancellationRequested(by: cell)
    }

    /// Whether the producer answers requests to cancel.
    var answersRequests: Bool { true }

    /// The subject of the report if the future fails.
    var subject: String? { nil }

    /// Called when the cell was one of the loop's timers and is due.
    func timeIsUp(for cell: Cell) {}

    /// Called when the cell has completed in any way.
    func settled() {}
}
