/// A series of promises of which at most one is pending. It completes one future after the other, without an
/// object for each promise. An owner holds the series, and answers requests to cancel as the owner of an
/// ``OwnedPromise`` does.
@usableFromInline
package final class PromiseSeries: Producer {
    private var cell: Cell?
    private unowned var owner: (any PromiseOwner)?

    @usableFromInline package override init() { super.init() }

    /// Sets the owner. A request to cancel calls `owner`, and then cancels the future. `owner` has to stay
    /// alive while a future is pending.
    package func belong(to owner: any PromiseOwner) { self.owner = owner }

    /// Returns the next future. Traps if the future before it is pending.
    @inlinable
    package func next<Value>(
        of _: Value.Type, on loop: LoopCore, file: StaticString = #fileID, line: UInt = #line
    ) -> Future<Value> {
        // Inlined, so that the optimizer knows the type of the value and the behavior of the cell needs no
        // context.
        let cell = Cell.plain(loop, state: .pending, of: Value.self)
        begin(cell, file, line)
        return Future(cell)
    }

    /// Makes `cell` the pending cell of the series.
    @usableFromInline
    func begin(_ cell: Cell, _ file: StaticString, _ line: UInt) {
        // Code that runs within the completion of the former future may already ask for this one.
        if let former = self.cell, former.isCompleted { former.pointer.endProducer() }
        precondition(self.cell == nil, "the promise before this one is pending")
        self.cell = cell
        cell.promiseWasMade(file, line)
        cell.setProducer(self)
    }

    /// Completes the pending future with `value`. `value` must have the type that the future was made with.
    @inlinable
    package func succeed<Value>(_ value: Value) {
        guard let cell = takePending() else { return }
        withExtendedLifetime(cell) { cell.pointer.settle(with: value) }
    }

    /// Ends the part of the series in the pending future, and returns the cell of that future. Returns `nil` if no
    /// future is pending.
    @usableFromInline
    func takePending() -> Cell? {
        guard let cell, cell.pointer.state == .pending else { return nil }
        self.cell = nil
        cell.pointer.producer = nil
        cell.pointer.countPromiseOut()
        return cell
    }

    /// Fails the pending future with `error`.
    package func fail(_ error: any Error) { cell?.fail(error) }

    /// Fails the pending future with `error`. The failure is never reported.
    package func failUnreported(_ error: any Error) {
        cell?.markObserved()
        fail(error)
    }

    override func cancellationRequested(by cell: CellPointer) -> Answer {
        owner?.cancellationRequested()
        return .cancel
    }

    override var awaited: Awaited? { owner.map { .object($0) } }

    override var subject: String? { owner?.subject }

    override func settled() { cell.take()?.promiseWasReleased(#fileID, #line) }
}
