/// The step of an observer on which a task waits for a future. It keeps the job that continues the task.
struct ParkedTask: Step {
    fileprivate let place: Int
    fileprivate var parked: TaskJob?

    func run(source: CellPointer, target: CellPointer) {
        target.withLoop { loop in
            unsafe loop.parking.lot.leave(place)
            loop.letGo()
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
            loop.hold()
            let observer = waiting(ParkedTask(place: unsafe loop.parking.lot.nextPlace))
            return (observer, unsafe loop.parking.lot.enter(observer.pointer))
        }
        registerObserver(observer, when: .all.on(.loop))
        return (observer, ticket)
    }

    /// Whether the cell still has its step.
    fileprivate var isWaiting: Bool { pointer.flags.contains(.hasStep) }
}

extension LoopCore {
    /// Ends the wait of `ticket` with `error`, if the wait is not over. Call it on the loop's thread.
    func endWait(_ ticket: ParkingLot.Ticket, with error: any Error) {
        // If the future has completed in the meantime, the task gets the outcome, so that the value is not
        // lost.
        guard let observer = unsafe parking.lot.observer(with: ticket), !observer.isQueued else { return }
        unsafe parking.lot.leave(ticket.place)
        letGo()
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

    /// Whether a task other than a body waits for a future of this loop.
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
    // Only the loop's thread uses these properties. The next task to arrive is a body or a task with an
    // observer.
    @exclusivity(unchecked) nonisolated(unsafe) fileprivate var lot = ParkingLot()
    @exclusivity(unchecked) nonisolated(unsafe) private var arrivingBody: Unmanaged<Body>?
    @exclusivity(unchecked) nonisolated(unsafe) private var arriving:
        (observer: CellPointer, origin: TaskJob.Origin)?

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    nonisolated func belong(to loop: LoopCore) { unsafe self.loop = .passUnretained(loop) }

    /// Waits until the step of `observer` runs or is dropped. Call it on the loop's thread.
    ///
    /// Returns at once if the step has run or been dropped before. This is possible for a task that is
    /// isolated to nothing.
    nonisolated(nonsending) func park(_ observer: Cell) async {
        guard observer.isWaiting else { return }
        unsafe arriving = (observer.pointer, loop._withUnsafeGuaranteedRef { $0.originOfCurrentTask })
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
        let (observer, origin) = unsafe arriving.take()!
        var task = observer.takePayload(as: ParkedTask.self)
        task.parked = TaskJob(job: job, origin: origin)
        observer.initializePayload(task)
    }

    /// Returns when the loop runs the job of the current task.
    @usableFromInline
    func stay() { departed() }

    /// Does nothing, in a way that the optimizer cannot see. The optimizer would remove the change to this
    /// executor if `stay` had no effect.
    @inline(never)
    private nonisolated func departed() {}
}
