/// A series of promises of which at most one is pending. An object answers for them, as the owner of an
/// ``OwnedPromise`` does, and holds them. With it, completing future after future takes no promise for each.
@usableFromInline
package final class PromiseSeries: Producer {
    private var cell: Cell?
    private unowned var owner: (any PromiseOwner)?

    @usableFromInline package override init() { super.init() }

    /// Calls `owner` upon a request to cancel, and then cancels the future. `owner` has to stay alive while a future is
    /// pending.
    package func belong(to owner: any PromiseOwner) { self.owner = owner }

    /// Returns the next future. The one before must have completed.
    @inlinable
    package func next<Value>(
        of _: Value.Type, on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line
    ) -> Future<Value> {
        // Inlined, or the cell would have to remember its type.
        let cell = Cell.plain(loop.core, state: .pending, of: Value.self)
        begin(cell, file, line)
        return Future(cell)
    }

    @usableFromInline
    func begin(_ cell: Cell, _ file: StaticString, _ line: UInt) {
        // Who hears within its completion that the one before has ended may ask for this one.
        if let former = self.cell, former.isCompleted { former.pointer.endProducer() }
        precondition(self.cell == nil, "the promise before this one is pending")
        self.cell = cell
        cell.promiseWasMade()
        #if DEBUG
            cell.noteSite(file, line)
        #endif
        cell.setProducer(self)
    }

    /// Completes the pending future with `value`, which is of its type.
    @inlinable
    package func succeed<Value>(_ value: Value) { pending?.succeed(value) }

    /// Fails the pending future. The failure may go unheard.
    package func failUnreported(_ error: any Error) {
        guard let cell else { return }
        cell.markObserved()
        cell.fail(error)
    }

    @usableFromInline var pending: Cell? { cell }

    override func cancellationRequested(by cell: CellPointer) -> Answer {
        owner?.cancellationRequested()
        return .cancel
    }

    override var subject: String? { owner?.subject }

    override func settled() {
        cell.take()?.promiseWasReleased(#fileID, #line)
    }
}
