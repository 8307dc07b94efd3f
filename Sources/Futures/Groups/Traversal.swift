/// A step that tells a traversal which of its futures has completed. It is not generic, and only its closure knows
/// the type of the values: otherwise each element would look up the metadata of a generic type.
private struct ElementStep: Step {
    let index: Int
    let ended: (_ source: CellPointer, _ index: Int) -> Void

    func run(source: CellPointer, target _: CellPointer) { ended(source, index) }
}

/// Work on a series of elements, several at a time. It is the producer of the future that completes when the
/// whole work is done.
final class Traversal<Element, Output, Total, Value>: Producer {
    /// The closures of a traversal, and its limit.
    struct Work {
        let limit: Int
        /// Returns the next element, or `nil` at the end.
        let pull: () throws -> Element?
        let body: (Element) throws -> Future<Output>
        /// Adds an outcome to the total.
        let take: (inout Total, Result<Output, any Error>, _ index: Int) throws -> Void
        let conclude: (Total) -> Value
    }

    private let cell: Cell
    private let work: Work
    private let values: CarriedValues
    private var total: Total
    /// The observers of the pending futures, by the index of the element.
    private var running: [Int: Cell] = [:]
    private var started = 0
    private var isExhausted = false
    /// Whether `startMore` runs, or will run from the ready queue.
    private var isStarting = false

    init(_ cell: Cell, total: Total, _ work: Work) {
        self.cell = cell
        self.total = total
        self.work = work
        values = cell.loop.carriedValues
    }

    func start() {
        cell.setProducer(self)
        startMore()
    }

    private func startMore() {
        isStarting = true
        var room = work.limit - running.count
        do {
            while room > 0, !isExhausted, !cell.isCompleted {
                room -= 1
                if cell.loop.isShutDown { throw FutureError.shutDown }
                guard let element = try work.pull() else {
                    isExhausted = true
                    break
                }
                if !cell.isCompleted { try start(element) }
            }
            isStarting = false
            goOn()
        } catch {
            cell.fail(error)
        }
    }

    private func start(_ element: Element) throws {
        let index = started
        started += 1
        let future = try work.body(element).given(to: cell.loop).cell
        if future.isDecided(by: cell) { throw FutureError.cycle }
        let step = ElementStep(index: index) { source, index in
            self.ended(source.readResult(as: Output.self), index)
        }
        let observer = Cell.waiting(cell.loop, step: step)
        running[index] = observer
        // A failure ends the traversal at once. A value is queued, since it makes the traversal call user
        // code for the next element.
        future.registerObserver(observer, when: [.success, .atOnce])
        // `body` may have completed the future of the traversal.
        if cell.isCompleted { settled() }
    }

    private func ended(_ result: Result<Output, any Error>, _ index: Int) {
        running[index] = nil
        do {
            try work.take(&total, result, index)
            if case .success = result { startMore() } else { goOn() }
        } catch {
            cell.fail(error)
        }
    }

    /// Succeeds if all work is done. Otherwise starts more work later, unless that is under way.
    private func goOn() {
        guard !isStarting, !cell.isCompleted else { return }
        if isExhausted {
            if running.isEmpty { cell.succeed(work.conclude(total)) }
        } else if running.count < work.limit {
            isStarting = true
            cell.loop.enqueue { self.values.during(self.startMore) }
        }
    }

    override var subject: String? { "traverse" }

    override var allAwaited: [Awaited] {
        running.sorted { $0.key < $1.key }.compactMap { $0.value.pointer.source.map { .cell($0) } }
    }

    override func settled() {
        let running = running.sorted { $0.key < $1.key }
        self.running = [:]
        for (_, observer) in running { observer.stopObserving(cancelling: true) }
    }
}
