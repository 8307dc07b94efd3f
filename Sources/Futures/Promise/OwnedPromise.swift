/// A promise with an owner, an object that is called when the future is about to be cancelled. It takes far
/// less memory than a ``Promise`` with a handler, so it suits operations of which thousands wait at once.
///
/// The future holds the promise and the owner until the future completes.
@usableFromInline
package final class OwnedPromise<Value>: Producer {
    @usableFromInline let cell: Cell
    private var owner: (any PromiseOwner)?

    // Inlined, so that the optimizer knows the type of the value and the behavior of the cell needs no
    // context.
    @inlinable
    package convenience init(on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line) {
        self.init(Cell.plain(loop.core, state: .pending, of: Value.self), file: file, line: line)
    }

    @usableFromInline
    init(_ cell: Cell, file: StaticString, line: UInt) {
        self.cell = cell
        super.init()
        cell.promiseWasMade(file, line)
        cell.setProducer(self)
    }

    /// Sets the owner. A request to cancel calls `owner`, and then cancels the future. The promise releases
    /// `owner` when the future completes.
    package func belong(to owner: any PromiseOwner) { self.owner = owner }

    deinit { cell.promiseWasReleased(#fileID, #line) }

    @inlinable package var future: Future<Value> { Future(cell) }

    @inlinable @discardableResult
    package func succeed(_ value: Value) -> Bool { cell.succeed(value) }

    @inlinable @discardableResult
    package func fail(_ error: any Error) -> Bool { cell.fail(error) }

    @inlinable @discardableResult
    package func complete(_ result: Result<Value, any Error>) -> Bool { cell.complete(result) }

    override func cancellationRequested(by cell: CellPointer) -> Answer {
        owner?.cancellationRequested()
        return .cancel
    }

    override var awaited: Awaited? { owner.map { .object($0) } }

    override var subject: String? { owner?.subject }

    override func settled() { owner = nil }
}

/// The object that completes an ``OwnedPromise``.
@usableFromInline
package protocol PromiseOwner: AnyObject {
    /// Ends the operation. The future is cancelled after this call.
    func cancellationRequested()
    /// The name of the operation for the report of an unhandled failure, or `nil`.
    var subject: String? { get }
}
