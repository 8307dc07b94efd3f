/// An operation of a queue, and the producer of the future that `enqueue` returned: in line, then running.
///
/// When the future ends, in any way, it frees its place in the line or its slot.
final class QueuedOperation: Producer, LineMember {
    let target: Cell
    let priority: Int
    var place: Int?
    private(set) var isRunning = false
    private var start: ((Cell) -> Void)?
    private var ended: ((QueuedOperation) -> Void)?

    init<Value>(
        on loop: EventLoop, priority: Int, operation: @escaping () throws -> Future<Value>,
        ended: @escaping (QueuedOperation) -> Void
    ) {
        target = Cell.plain(loop.core, state: .pending, of: Value.self)
        self.priority = priority
        self.ended = ended
        start = { target in
            do { target.follow(try operation().cell) } catch { target.fail(error) }
        }
        super.init()
        target.setProducer(self)
        target.failAtShutdown()
    }

    func run() {
        isRunning = true
        start.take()?(target)
    }

    /// Ends the operation with `error`, and asks what it runs to cancel.
    func abort(_ error: any Error) {
        target.leaveSource(cancelling: true)
        target.fail(error)
    }

    /// Cancels an operation that waits. Asks a running one, as any future that waits for it would.
    override func cancellationRequested(by cell: CellPointer) -> Answer { isRunning ? .undecided : .cancel }

    override var answersRequests: Bool { !isRunning }

    override func settled() {
        let (ended, operation) = (ended.take(), start.take())
        withExtendedLifetime(operation) { ended?(self) }
    }
}
