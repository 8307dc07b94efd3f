/// A timer in a loop's heap, and the producer of the future that it completes or times out.
class LoopTimer: Producer {
    /// Its place among the loop's timers, while it is one of them.
    final var slot: Int?
    final let deadline: UInt64
    final let keepsAlive: Bool
    /// The future, until the timer has fired or the future has completed.
    final var cell: CellObject?
    final let loop: EventLoop

    init(_ loop: EventLoop, cell: CellObject?, deadline: UInt64, keepsAlive: Bool) {
        self.loop = loop
        self.cell = cell
        self.deadline = deadline
        self.keepsAlive = keepsAlive
    }

    final func start() {
        cell?.setProducer(self)
        loop.timers.insert(self)
        loop.requestTurn()
    }

    /// The deadline has passed, and the timer has left the heap.
    func becomeDue() {
        guard let cell else { return }
        self.cell = nil
        fire(cell)
    }

    /// What the future waited for has come. The default runs its step.
    func fire(_ cell: CellObject) {
        loop.dispatch(cell)
        loop.releaseTheDead()
    }

    final override func settled() {
        cell = nil
        loop.timers.remove(self)
    }

    override func cancellationRequested(by cell: Cell) -> Answer { .cancel }
}

extension EventLoop {
    /// Fires all timers that are due now; what they start is not due before the next time.
    func fireTimers() {
        let now = driver.now
        var due: [LoopTimer] = []
        while let timer = timers.takeFirst(until: now) { due.append(timer) }
        if let first = due.first { work.timersFired(late: now - first.deadline) }
        for timer in due { timer.becomeDue() }
    }

    /// Fails the futures of all timers.
    func failTimers(_ error: any Error) {
        while let timer = timers.takeFirst(until: .max) {
            guard let cell = timer.cell else { continue }
            timer.cell = nil
            cell.fail(error)
        }
        coarse.removeAll()
    }

    /// A future that completes at `deadline`.
    func sleep(until deadline: UInt64, keepsLoopAlive: Bool) -> Future<Void> {
        checkThread()
        guard !isShutDown else { return failed(FutureError.shutDown) }
        let cell = CellObject.plain(self, state: .pending, of: Void.self)
        SleepTimer(self, cell: cell, deadline: deadline, keepsAlive: keepsLoopAlive).start()
        return Future(cell)
    }

    /// Far deadlines saturate: 584 years are for ever.
    func deadline(after nanoseconds: UInt64) -> UInt64 { driver.now.addingSaturated(nanoseconds) }
}

/// No closure of a user's has to run, so the future completes as soon as the time has come.
private final class SleepTimer: LoopTimer {
    override func fire(_ cell: CellObject) { cell.succeed(()) }
}

extension Duration {
    /// Whole nanoseconds, rounded up, at most `UInt64.max`; `nil` if negative.
    package var wholeNanoseconds: UInt64? {
        // Not `components`, whose seconds do not hold every duration.
        guard attoseconds >= 0 else { return nil }
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt64(clamping: whole).addingSaturated(rest > 0 ? 1 : 0)
    }
}

extension FutureError {
    static func negativeDuration(_ duration: Duration) -> FutureError {
        .invalidArgument("a delay of \(duration) is negative; give zero or more")
    }
}

extension UInt64 {
    package func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    func multipliedSaturated(by other: UInt64) -> UInt64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
