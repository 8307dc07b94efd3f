extension EventLoop {
    /// Returns a sequence of instants, one in every `interval`. The first instant comes when `interval` has
    /// passed since the iteration began.
    ///
    /// If a consumer takes longer than `interval`, it misses the instants that fall due in that time, and
    /// gets the next instant on time. If the loop is late, the instants of up to 100 ms are made up at once, so that their
    /// number is right. If `interval` is not positive, the iteration throws ``FutureError/invalidArgument(_:)``.
    ///
    /// A task that waits for an instant keeps ``run()`` from returning. Other code that waits, such as
    /// ``LoopSequence/first()``, does the same if `keepsLoopAlive` is `true`.
    ///
    /// ```swift
    /// for try await _ in loop.ticks(every: .seconds(60)) { print(loop.statistics) }
    /// ```
    public func ticks(every interval: Duration, keepsLoopAlive: Bool = true) -> LoopSequence<LoopInstant> {
        LoopSequence(on: self) { [core] in
            guard let nanoseconds = interval.wholeNanoseconds, nanoseconds > 0 else {
                return .init { core.failed(FutureError.unsuitableInterval(interval)) }
            }
            let ticks = Ticks(every: nanoseconds, keepsLoopAlive: keepsLoopAlive, on: core)
            return LoopSequence.AsyncIterator(asking: ticks, on: core, next: ticks.next)
        }
    }
}

/// The instants of one iteration.
private final class Ticks: ElementAsker {
    private let loop: LoopCore
    private let keepsLoopAlive: Bool
    private var cadence: Cadence
    /// Whether the consumer has asked since it got the last instant.
    private var hasAsked = true
    private var asking: ElementSource<LoopInstant>?
    /// The timer for the task that asks. It is used for one instant after the other.
    private var timer: Cell?

    init(every interval: UInt64, keepsLoopAlive: Bool, on loop: LoopCore) {
        self.loop = loop
        self.keepsLoopAlive = keepsLoopAlive
        cadence = Cadence(every: interval, from: loop.deadline(after: interval))
    }

    var subject: String? { "a tick" }

    func next() -> Future<LoopInstant?> {
        skipMissed()
        return loop.sleep(until: cadence.due, keepsLoopAlive: keepsLoopAlive).map { [self] in take() }
    }

    func ask(for wait: ElementWait) -> Bool {
        guard !loop.isShutDown else { return false }
        skipMissed()
        asking = (wait as! ElementSource<LoopInstant>)
        let step = TickStep(ticks: self)
        if let timer {
            timer.initializePayload(step)
            timer.pointer.flags.insert(.hasStep)
        } else {
            timer = Cell.waiting(loop, step: step)
            timer!.markObserved()
            timer!.pointer.interest = .all
        }
        loop.startTimer(timer!, deadline: cadence.due, keepsAlive: keepsLoopAlive)
        return true
    }

    func stopAsking(for wait: ElementWait) {
        asking = nil
        // The timer may be in the ready queue already, so it cannot be used again.
        _ = timer.take()?.requestCancellation(ignoringConsumers: true)
    }

    fileprivate func timerFired() { asking.take()?.deliver(take()) }

    private func skipMissed() {
        hasAsked = true
        let now = loop.clock
        cadence.skip(before: now)
        cadence.begin(cadence.due, now: now)
    }

    private func take() -> LoopInstant {
        let now = loop.clock
        cadence.came(now: now)
        cadence.advance()
        if cadence.interval < Cadence.longestLateness, !loop.ready.isEmpty {
            // The consumer has to wait for its turn. Until then, the loop is late.
            hasAsked = false
            loop.enqueue { [self] in if !hasAsked { cadence.came(now: loop.clock) } }
        }
        return LoopInstant(nanoseconds: now)
    }
}

/// The step of the timer of a task that waits for the next instant.
private struct TickStep: Step {
    let ticks: Ticks

    func run(source: CellPointer, target: CellPointer) { ticks.timerFired() }

    static var verb: String? { "ticks" }
}
