/// Gets the elements of a source for the task that asks for them, without a future for each element.
package protocol ElementAsker: AnyObject {
    /// Asks for the next element on behalf of `wait`, a source. The asker gives the element, the end or a failure to
    /// `wait`, during this call or later. Returns `false` if a future has to bring what is next.
    func ask(for wait: ElementWait) -> Bool
    /// Takes the request of `wait` back, if there is one.
    func stopAsking(for wait: ElementWait)
    /// The name of what is asked for, for people.
    var subject: String? { get }
}

/// The wait of a task for an element, as far as it does not depend on the type of the element. At most one task
/// waits.
@usableFromInline
@safe
package class ElementWait {
    private let asker: (any ElementAsker)?
    // No user code runs while these change.
    @exclusivity(unchecked) private var loop: Unmanaged<LoopCore>?
    @exclusivity(unchecked) private var isAsking = false
    @exclusivity(unchecked) private var hasArrived = false
    @exclusivity(unchecked) private var failure: (any Error)?
    /// The future that has brought the element, if it did not come by itself.
    @exclusivity(unchecked) private var completed: Cell?
    /// The body that waits, or `nil` if no body waits.
    @exclusivity(unchecked) private var body: Unmanaged<Body>?
    /// The ticket of the task that waits and is no body's task, or `nil` if no such task waits.
    @exclusivity(unchecked) private var ticket: ParkingLot.Ticket?
    /// The job that continues that task.
    @exclusivity(unchecked) private var job: TaskJob?
    @exclusivity(unchecked) private var cancellation: WaitCancellation?

    init(asking asker: (any ElementAsker)?, on loop: LoopCore?) {
        self.asker = asker
        unsafe self.loop = loop.map { unsafe .passUnretained($0) }
    }

    /// Notes the loop of the sequence. Traps if the elements come on another loop.
    final func belong(to loop: LoopCore) {
        let loop = unsafe Unmanaged.passUnretained(loop)
        if let own = unsafe self.loop, unsafe own.toOpaque() != loop.toOpaque() { Misuse.foreignIterator() }
        unsafe self.loop = loop
    }

    /// Returns `future`, which is to bring the next element. Traps if it belongs to another loop than the sequence.
    final func given<Element>(_ future: Future<Element>) -> Future<Element> {
        guard let loop = unsafe loop else { return future }
        let own = unsafe Unmanaged.passUnretained(future.cell.loop)
        if unsafe own.toOpaque() != loop.toOpaque() { Misuse.foreignFuture() }
        return future
    }

    @inline(__always)
    private func withLoop<Result>(_ use: (LoopCore) -> Result) -> Result {
        unsafe loop!._withUnsafeGuaranteedRef(use)
    }

    /// Asks on behalf of the task that runs. Returns `nil` if a future has to bring the element.
    @inline(__always)
    final func ask() -> Await? {
        guard let asker else { return nil }
        return withLoop { loop in
            loop.checkThread()
            guard unsafe !isAsking else { return nil }
            let answer = loop.bodies.withCurrent { body -> Await? in
                guard !body.isCancelled, asker.ask(for: self) else { return nil }
                unsafe isAsking = true
                if unsafe hasArrived { return .completed }
                unsafe self.body = .passUnretained(body)
                body.wait(for: self, on: loop)
                return .parked
            }
            guard case .none = answer else { return answer! }
            return ask(asker, on: loop)
        }
    }

    /// Asks on behalf of a task that is no body's task.
    @inline(never)
    private func ask(_ asker: any ElementAsker, on loop: LoopCore) -> Await? {
        guard asker.ask(for: self) else { return nil }
        unsafe isAsking = true
        if unsafe hasArrived { return .completed }
        unsafe ticket = loop.enter(.element(.passUnretained(self)))
        return .byTask
    }

    /// The object that brings the element.
    final var source: AnyObject? { asker }

    final var parking: Parking { withLoop { $0.parking } }

    /// Notes that the task has taken what came. Another wait may begin.
    @usableFromInline
    final func hasAsked() {
        unsafe isAsking = false
        unsafe hasArrived = false
    }

    final func takeFailure() -> (any Error)? { unsafe failure.take() }

    final func takeCompleted() -> Cell? { unsafe completed.take() }

    final func stopAsking() { asker?.stopAsking(for: self) }

    /// Continues the task that asked. If `later` is `true`, or if a task of the loop runs now, the task that asked
    /// continues after this call.
    @usableFromInline
    final func arrived(later: Bool) {
        unsafe hasArrived = true
        withLoop { loop in
            let later = later || loop.turnState.isInJob
            guard let body = unsafe body.take() else { return goOn(on: loop, later: later) }
            unsafe body._withUnsafeGuaranteedRef { $0.goOn(on: loop, later: later) }
        }
    }

    /// Ends the wait of a task that is no body's task, and continues the task.
    @inline(never)
    private func goOn(on loop: LoopCore, later: Bool) {
        guard let ticket = unsafe ticket.take() else { return }
        loop.leave(ticket.place)
        guard let job = unsafe job.take() else { return }
        if later { loop.runLater(job) } else { loop.run(job) }
    }

    /// Passes the value or the failure of `outcome`, a completed future of the type of the elements, to the task that
    /// asked. That task continues as after an element.
    package final func deliver<Element>(_ outcome: Future<Element>) {
        let cell = outcome.cell
        if cell.hasSucceeded {
            unsafe completed = cell
        } else {
            unsafe failure = cell.checkedRoot.readFailure()
        }
        arrived(later: false)
    }

    /// Ends the sequence for the task that asked, because of `failure` if there is one.
    package final func end(because failure: (any Error)? = nil) {
        unsafe self.failure = failure
        arrived(later: true)
    }

    /// Ends the wait with `error`, because the task is cancelled or the loop shuts down. A body is then continued by
    /// the caller.
    final func endWait(with error: any Error) {
        unsafe body = nil
        unsafe failure = error
        stopAsking()
        withLoop { goOn(on: $0, later: true) }
    }

    // MARK: A task that is no body's task

    /// Waits for the element that the current task has asked for, with a cancellation handler for this wait.
    @usableFromInline
    final func waitByTask() async {
        guard let ticket = unsafe ticket else { return }
        let cancellation = cancellation(of: ticket)
        unsafe await parking.park(.element(.passUnretained(self)), until: cancellation)
    }

    /// Returns the handler that this object keeps for its waits, now for the wait of `ticket`.
    private func cancellation(of ticket: ParkingLot.Ticket) -> WaitCancellation {
        if let cancellation = unsafe cancellation {
            cancellation.ticket = ticket
            return cancellation
        }
        let new = withLoop { WaitCancellation(of: ticket, on: $0) }
        unsafe cancellation = new
        return new
    }

    /// Whether a task that is no body's task waits.
    final var isAwaitedByTask: Bool { unsafe ticket != nil }

    /// Stores the job that continues the task.
    final func keep(_ job: TaskJob) { unsafe self.job = job }
}
