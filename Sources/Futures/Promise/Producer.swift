/// What will complete a cell, where that is something that wants to hear of cancellation or of the end.
@usableFromInline
package class Producer {
    enum Answer {
        /// Cancel the future now.
        case cancel
        /// The producer has completed the future or will do so; all wait for it.
        case willComplete
        /// Not the producer's decision: whoever is further upstream decides.
        case undecided
    }

    @usableFromInline init() {}

    func cancellationRequested(by cell: CellPointer) -> Answer { .undecided }

    /// The same, for a producer that wants to know in which way.
    func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        cancellationRequested(by: cell)
    }

    /// Whether it has an answer to such requests.
    var answersRequests: Bool { true }

    /// What it makes, for who reads that this has failed.
    var subject: String? { nil }

    /// The cell was one of the loop's timers, and is due.
    func timeIsUp(for cell: Cell) {}

    /// The cell has completed, by whatever way.
    func settled() {}
}
