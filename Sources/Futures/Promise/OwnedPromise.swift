/// A promise with an owner, an object that answers when its future is to be cancelled. It suits operations that wait by
/// the thousand: it takes far less memory than a ``Promise`` with a handler.
///
/// The future holds the promise and its owner until it completes.
@usableFromInline
package final class OwnedPromise<Value>: Producer {
    @usableFromInline let cell: Cell
    private var owner: (any PromiseOwner)?

    // Inlined, or the cell would have to remember its type.
    @inlinable
    package convenience init(on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line) {
        self.init(Cell.plain(loop.core, state: .pending, of: Value.self), file: file, line: line)
    }

    @usableFromInline
    init(_ cell: Cell, file: StaticString, line: UInt) {
        self.cell = cell
        super.init()
        cell.promiseWasMade()
        #if DEBUG
            cell.noteSite(file, line)
        #endif
        cell.setProducer(self)
    }

    /// Calls `owner` upon a request to cancel, and then cancels the future. Releases `owner` when the future completes.
    package func belong(to owner: any PromiseOwner) { self.owner = owner }

    deinit {
        cell.promiseWasReleased(#fileID, #line)
    }

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

    override var subject: String? { owner?.subject }

    override func settled() { owner = nil }
}

/// The object that completes an ``OwnedPromise``.
@usableFromInline
package protocol PromiseOwner: AnyObject {
    /// Called when the future is about to be cancelled.
    func cancellationRequested()
    /// The subject of the report if the future fails.
    var subject: String? { get }
}
