/// The step of an observer on which a task waits for a future. It keeps the job that continues the task.
struct ParkedTask: Step {
    fileprivate let place: Int
    fileprivate var parked: TaskJob?

    func run(source: CellPointer, target: CellPointer) {
        target.withLoop { loop in
            loop.leave(place)
            // This must be the last call of the callback, because it runs the task.
            if let parked { loop.run(parked) }
        }
    }
}

extension Cell {
    /// Begins to wait for this future. Returns the observer and the ticket of the wait. The observer fails if
    /// the wait is ended with an error. In any other case it never completes.
    func beginWait() -> (observer: Cell, ticket: ParkingLot.Ticket) {
        let (observer, ticket) = pointer.withLoop { loop in
            let observer = waiting(ParkedTask(place: unsafe loop.parking.lot.nextPlace))
            return (observer, loop.enter(.future(observer.pointer)))
        }
        registerOwn(observer)
        return (observer, ticket)
    }
}

extension ParkingLot.Waiter {
    /// Whether the wait is not over.
    fileprivate var isWaiting: Bool {
        switch self {
        case .future(let observer): observer.flags.contains(.hasStep)
        case .element(let wait): unsafe wait._withUnsafeGuaranteedRef { $0.isAwaitedByTask }
        }
    }

    /// Stores the job that continues the task.
    fileprivate func keep(_ job: TaskJob) {
        switch self {
        case .future(let observer):
            var task = observer.takePayload(as: ParkedTask.self)
            task.parked = job
            observer.initializePayload(task)
        case .element(let wait): unsafe wait._withUnsafeGuaranteedRef { $0.keep(job) }
        }
    }
}

extension LoopCore {
    /// Puts `waiter` into the parking lot, and keeps the loop alive meanwhile.
    func enter(_ waiter: ParkingLot.Waiter) -> ParkingLot.Ticket {
        hold()
        return unsafe parking.lot.enter(waiter)
    }

    /// Frees `place` in the parking lot.
    func leave(_ place: Int) {
        unsafe parking.lot.leave(place)
        letGo()
    }

    /// Ends the wait of `ticket` with `error`, if the wait is not over. Call it on the loop's thread.
    func endWait(_ ticket: ParkingLot.Ticket, with error: any Error) {
        switch unsafe parking.lot.waiter(with: ticket) {
        case .future(let observer): endWait(at: ticket.place, of: observer.object, with: error)
        case .element(let wait): unsafe wait._withUnsafeGuaranteedRef { $0.endWait(with: error) }
        case nil: break
        }
    }

    /// Ends the wait of `ticket`, whose task has been cancelled, unless the task waits for what ignores that.
    func cancelWait(_ ticket: ParkingLot.Ticket) {
        if case .future(let observer)? = unsafe parking.lot.waiter(with: ticket),
            let shield = observer.source?.shield
        {
            return shield.hearsOfCancelledWait()
        }
        endWait(ticket, with: CancellationError())
    }

    private func endWait(at place: Int, of observer: Cell, with error: any Error) {
        // If the future has completed in the meantime, the task gets the outcome, so that the value is not
        // lost.
        guard !observer.isQueued else { return }
        leave(place)
        let parked = observer.pointer.readPayload(as: ParkedTask.self).parked
        observer.stopObserving(cancelling: true)
        observer.fail(error)
        if let parked { runLater(parked) }
    }

    /// Ends the waits of all tasks except bodies with `error`, the oldest first. The wait of a body ends with
    /// its future.
    func endWaits(with error: any Error) {
        for ticket in unsafe parking.lot.tickets { endWait(ticket, with: error) }
    }

    /// What the tasks other than bodies wait for.
    var awaitedByTasks: [Producer.Awaited] {
        unsafe parking.lot.waiters.compactMap { waiter in
            switch waiter {
            case .future(let observer): observer.source.map { .cell($0) }
            case .element(let wait): unsafe wait._withUnsafeGuaranteedRef { $0.source.map { .object($0) } }
            }
        }
    }

    /// Whether a task other than a body waits for a future or an element of this loop.
    package var isAwaited: Bool { unsafe !parking.lot.tickets.isEmpty }
}

/// The executor on which tasks wait for futures of a loop. It runs no jobs.
///
/// A task that changes to this executor leaves its next job here. When the future has completed, the loop
/// runs that job where the task came from, without a detour. A continuation would resume the task by way of a
/// different thread. For a task that prefers a task executor, a continuation would take two passes through
/// the ready queue.
@safe @usableFromInline
actor Parking: SerialExecutor {
    @exclusivity(unchecked) nonisolated(unsafe) private var loop: Unmanaged<LoopCore>!
    // Only the loop's thread uses these properties. The next task to arrive is the task of a body, or a task
    // with a place in the parking lot.
    @exclusivity(unchecked) nonisolated(unsafe) fileprivate var lot = ParkingLot()
    @exclusivity(unchecked) nonisolated(unsafe) private var arrivingBody: Unmanaged<Body>?
    @exclusivity(unchecked) nonisolated(unsafe) private var arriving:
        (waiter: ParkingLot.Waiter, origin: TaskJob.Origin)?

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    nonisolated func belong(to loop: LoopCore) { unsafe self.loop = .passUnretained(loop) }

    /// Waits until the wait of `waiter` is over. If the task is cancelled, `cancellation` ends the wait. Call this
    /// function on the loop's thread.
    ///
    /// Returns at once if the wait is over. This is possible for a task that is cancelled or nonisolated.
    nonisolated(nonsending) func park(
        _ waiter: ParkingLot.Waiter, until cancellation: WaitCancellation
    ) async {
        let handler = unsafe cancellation.handleCancellation()
        defer { unsafe cancellation.stopHandling(handler) }
        guard waiter.isWaiting else { return }
        unsafe arriving = (waiter, loop._withUnsafeGuaranteedRef { $0.originOfCurrentTask })
        await stay()
    }

    /// Notes that the next task to arrive is the task of `body`.
    nonisolated func expect(_ body: Body) { unsafe arrivingBody = .passUnretained(body) }

    /// Stores the job of an arriving task. The thread of that task makes this call when the task changes to
    /// this executor.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let body = unsafe arrivingBody.take() {
            let origin = unsafe loop._withUnsafeGuaranteedRef { $0.originOfBody }
            unsafe body._withUnsafeGuaranteedRef { unsafe $0.job = TaskJob(job: job, origin: origin) }
            return
        }
        let (waiter, origin) = unsafe arriving.take()!
        waiter.keep(TaskJob(job: job, origin: origin))
    }

    /// Returns when the loop runs the job of the current task.
    @usableFromInline
    func stay() { departed() }

    /// Does nothing, in a way that the optimizer cannot see. The optimizer would remove the change to this
    /// executor if `stay` had no effect.
    @inline(never)
    private nonisolated func departed() {}
}
