/// A repetition in progress. It is the producer of the future of its `ScheduledTask`.
final class Repetition<Ignored>: Producer {
    /// What a repetition does, and how often.
    struct Plan {
        let interval: UInt64
        let initialDelay: UInt64
        /// The longest random delay of a run, as a fraction of the interval.
        let jitter: Double
        let pace: RepeatPace
        let onFailure: RepeatFailure
        let keepsLoopAlive: Bool
        let body: () throws -> Future<Ignored>
    }

    private let cell: Cell
    private let plan: Plan
    /// The times of the runs, before their random delays.
    private var cadence: Cadence
    /// The observer of the timer or of the current run, whichever the repetition waits for.
    private var waiting: Cell?

    private var loop: LoopCore { cell.loop }

    init(_ cell: Cell, _ plan: Plan) {
        self.cell = cell
        self.plan = plan
        cadence = Cadence(every: plan.interval, from: cell.loop.deadline(after: plan.initialDelay))
    }

    func start() {
        cell.setProducer(self)
        waitUntilDue()
    }

    private func waitUntilDue() {
        let deadline = cadence.due.addingSaturated(randomDelay())
        if plan.pace == .fixedRate { cadence.begin(deadline, now: loop.clock) }
        let timer = loop.sleep(until: deadline, keepsLoopAlive: plan.keepsLoopAlive)
        waiting = timer.cell.waiting(CompleteObserver<Void>(body: run))
        timer.cell.registerOwn(waiting!)
    }

    private func run(_ timer: Result<Void, any Error>) {
        do {
            try timer.get()
            if plan.pace == .fixedRate { cadence.came(now: loop.clock) }
            let future = try plan.body().given(to: loop)
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
        if case .failure(let error) = result, plan.onFailure == .end || loop.isShutDown { cell.fail(error) }
        if cell.isCompleted { return }
        moveOn()
        waitUntilDue()
    }

    private func randomDelay() -> UInt64 {
        guard plan.jitter > 0 else { return 0 }
        let fraction = Double.random(in: 0...plan.jitter, using: &loop.random)
        return UInt64(clamping: Int64(Double(min(plan.interval, UInt64(Int64.max) / 2)) * fraction))
    }

    private func moveOn() {
        let now = loop.clock
        guard plan.pace == .fixedRate else { return cadence.restart(now: now) }
        cadence.advance()
        // A start that falls due at the very end of a run is missed, too.
        cadence.skip(before: now.addingSaturated(1))
    }

    override var subject: String? { "repeat" }

    override func settled() {
        waiting.take()?.stopObserving(cancelling: true)
    }
}
