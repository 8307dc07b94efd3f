/// Promises one after another, of which one at most is pending, with an object that answers for them as that of an
/// ``OwnedPromise`` does, and that holds them. What completes future after future makes no promise for each.
@usableFromInline
package final class PromiseSeries: Producer {
    private var cell: Cell?
    private unowned var owner: (any PromiseOwner)?

    @usableFromInline package override init() { super.init() }

    /// Has `owner` called, and a future then cancelled, upon a request. It stays alive while one is pending.
    package func belong(to owner: any PromiseOwner) { self.owner = owner }

    /// The next future. The one before has completed.
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

    /// Fails the pending future. Nobody has to hear of it.
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
