/// A repetition in progress: the producer of the future that its task shows.
final class Repetition<Ignored>: Producer {
    private let cell: Cell
    private let loop: LoopCore
    private let interval: UInt64
    private let pace: RepeatPace
    private let onFailure: RepeatFailure
    private let keepsLoopAlive: Bool
    private let body: () throws -> Future<Ignored>
    private var due: UInt64
    /// The observer of the timer or of the run, depending on which it waits for.
    private var waiting: Cell?

    init(
        _ cell: Cell, interval: UInt64, pace: RepeatPace, onFailure: RepeatFailure, keepsLoopAlive: Bool,
        body: @escaping () throws -> Future<Ignored>
    ) {
        self.cell = cell
        loop = cell.loop
        self.interval = interval
        self.pace = pace
        self.onFailure = onFailure
        self.keepsLoopAlive = keepsLoopAlive
        self.body = body
        due = loop.deadline(after: interval)
    }

    func start() {
        cell.setProducer(self)
        waitUntilDue()
    }

    private func waitUntilDue() {
        let timer = loop.sleep(until: due, keepsLoopAlive: keepsLoopAlive)
        waiting = timer.cell.observe(CompleteObserver<Void>(body: run), when: .all)
    }

    private func run(_ timer: Result<Void, any Error>) {
        do {
            try timer.get()
            let future = try body()
            if future.cell.isDecided(by: cell) { throw FutureError.cycle }
            let run = Cell.waiting(loop, step: CompleteObserver<Ignored> { self.ended($0.map { _ in }) })
            waiting = run
            future.cell.registerObserver(run, when: .atOnce)
            if cell.isCompleted { settled() }
        } catch {
            ended(.failure(error))
        }
    }

    private func ended(_ result: Result<Void, any Error>) {
        waiting = nil
        if case .failure(let error) = result, onFailure == .end || loop.isShutDown { cell.fail(error) }
        if cell.isCompleted { return }
        due = nextStart()
        waitUntilDue()
    }

    private func nextStart() -> UInt64 {
        let now = loop.clock
        switch pace {
        case .fixedDelay:
            return loop.deadline(after: interval)
        case .fixedRate:
            let missed = due > now ? 0 : (now - due) / interval
            return due.addingSaturated((missed + 1).multipliedSaturated(by: interval))
        }
    }

    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }

    override var subject: String? { "repeat" }

    override func settled() {
        waiting.take()?.stopObserving(cancelling: true)
    }
}
