/// An operation of a queue. It is the producer of the future that `enqueue` returned. It waits in the queue
/// first, then it runs.
///
/// When the future has ended, whatever the outcome, the operation leaves the queue or frees its slot.
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
        let values = loop.core.carriedValues
        start = { target in
            do { target.follow(try values.during(operation).cell) } catch { target.fail(error) }
        }
        super.init()
        target.belong(to: self)
    }

    func run() {
        isRunning = true
        start.take()?(target)
    }

    /// Fails the future of the operation with `error`, and asks the future that the operation waits for to
    /// cancel.
    func abort(_ error: any Error) {
        target.leaveSource(cancelling: true)
        target.fail(error)
    }

    /// A request cancels an operation that waits in the queue. It goes on to the future that a running
    /// operation waits for.
    override var answersRequests: Bool { !isRunning }

    override func settled() {
        let (ended, operation) = (ended.take(), start.take())
        withExtendedLifetime(operation) { ended?(self) }
    }
}
