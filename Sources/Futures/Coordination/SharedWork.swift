/// Work that several callers wait for. Each caller has a branch of `future`. The owner learns of the end
/// through a closure, and does not count as a caller.
final class SharedWork<Value>: Producer {
    private let cell: Cell
    private let ended: (SharedWork) -> Void

    init(on loop: EventLoop, ended: @escaping (SharedWork) -> Void) {
        cell = Cell.plain(loop.core, state: .pending, of: Value.self)
        self.ended = ended
        super.init()
        cell.setProducer(self)
    }

    var future: Future<Value> { Future(cell) }

    func run(inNextTurn isLater: Bool = false, _ work: @escaping () throws -> Future<Value>) {
        do {
            cell.follow(isLater ? cell.loop.sleep(for: .zero).flatMap(work).cell : try work().cell)
        } catch {
            cell.fail(error)
        }
    }

    override var answersRequests: Bool { false }

    override func settled() { ended(self) }
}
