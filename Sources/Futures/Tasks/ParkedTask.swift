/// A task that waits for a future: an observer with a step that keeps the task's next job until it may go on.
struct ParkedTask: Step {
    fileprivate let place: Int
    fileprivate var parked: TaskJob?

    func run(source: CellPointer, target: CellPointer) {
        target.withLoop { loop in
            unsafe loop.parking.lot.leave(place)
            loop.letGo()
            // A callback of the loop ends with this.
            if let parked { loop.run(parked) }
        }
    }

    typealias Output = Void
}

extension Cell {
    /// Begins to wait for this future, by an observer that fails if the wait is ended, and never completes otherwise.
    func beginWait() -> (observer: Cell, ticket: ParkingLot.Ticket) {
        let (observer, ticket) = pointer.withLoop { loop in
            loop.hold()
            let observer = waiting(ParkedTask(place: unsafe loop.parking.lot.nextPlace))
            return (observer, unsafe loop.parking.lot.enter(observer.pointer))
        }
        registerObserver(observer, when: .all.on(.loop))
        return (observer, ticket)
    }

    /// Whether the step has neither run nor been dropped.
    fileprivate var isWaiting: Bool { pointer.flags.contains(.hasStep) }
}

extension LoopCore {
    /// Ends a wait, unless it is over. On the loop's thread.
    func endWait(_ ticket: ParkingLot.Ticket, with error: any Error) {
        // A future that has completed by now is read nevertheless: its value may be gone otherwise.
        guard let observer = unsafe parking.lot.observer(with: ticket), !observer.isQueued else { return }
        unsafe parking.lot.leave(ticket.place)
        letGo()
        let parked = observer.pointer.readPayload(as: ParkedTask.self).parked
        observer.stopObserving(cancelling: true)
        observer.fail(error)
        if let parked { runLater(parked) }
    }

    /// Ends all waits, the oldest first. Those of bodies have ended with the futures they waited for.
    func endWaits(with error: any Error) {
        for ticket in unsafe parking.lot.tickets { endWait(ticket, with: error) }
    }
}

extension LoopCore {
    /// Whether a task other than a body waits for a future of this loop.
    package var isAwaited: Bool { unsafe !parking.lot.tickets.isEmpty }
}

/// The place where tasks wait for futures of a loop: an executor that runs nothing by itself.
///
/// A task that goes there leaves its next job behind. That job later runs where the task came from, and so goes on
/// without a detour. A continuation would go on by way of another thread, or, with a preference for a task executor,
/// twice by way of the ready queue.
@usableFromInline
actor Parking: SerialExecutor {
    @exclusivity(unchecked) nonisolated(unsafe) private unowned(unsafe) var loop: LoopCore!
    // Touched on the loop's thread only. Who comes next is a body, or another task with an observer.
    @exclusivity(unchecked) nonisolated(unsafe) fileprivate var lot = ParkingLot()
    @exclusivity(unchecked) nonisolated(unsafe) private var arrivingBody: Body?
    @exclusivity(unchecked) nonisolated(unsafe) private var arriving:
        (observer: CellPointer, origin: TaskJob.Origin)?

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    nonisolated func belong(to loop: LoopCore) { unsafe self.loop = loop }

    /// Returns when the task may go on. On the loop's thread.
    ///
    /// A task that is isolated to nothing may come too late to park.
    nonisolated(nonsending) func park(_ observer: Cell) async {
        guard observer.isWaiting else { return }
        unsafe arriving = (observer.pointer, loop.originOfCurrentTask)
        await stay()
    }

    /// Announces that the task of `body` comes next.
    nonisolated func expect(_ body: Body) { unsafe arrivingBody = body }

    /// Takes in the job of an arriving task. Called on the way here, by the arriving thread.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        if let body = unsafe arrivingBody.take() {
            unsafe body.job = TaskJob(UnownedJob(job), loop.originOfBody)
            return
        }
        let (observer, origin) = unsafe arriving.take()!
        var task = observer.takePayload(as: ParkedTask.self)
        task.parked = TaskJob(UnownedJob(job), origin)
        observer.initializePayload(task)
    }

    @usableFromInline
    func stay() { departed() }

    /// Does nothing that the optimizer can see: a function without effect would be no reason to come here.
    @inline(never)
    private nonisolated func departed() {}
}
