/// The record of a task behind ``Future/init(on:isolation:_:)``, and the producer of the future of that task. It
/// knows what the task waits for, so the task needs only one cancellation handler for all its waits.
@usableFromInline
class Body: Producer, @unchecked Sendable {
    // Sendable because only the loop's thread uses its properties, except the loop that its cell names.

    /// The cell of the future, which counts as the cell of a promise.
    final let cell: Cell
    /// The observer of the future that the task waits for, or `nil` if the task does not wait. The future or the
    /// ready queue keeps it alive.
    @exclusivity(unchecked) private final var observer: CellPointer?
    /// The wait of the task for an element of a sequence, if it waits for that and not for a future.
    @exclusivity(unchecked) private final unowned(unsafe) var elementWait: ElementWait?
    /// The job that continues the waiting task.
    @exclusivity(unchecked) final var job: TaskJob?
    private(set) final var isCancelled = false
    /// Whether the work is isolated to the main actor.
    final let isOnMain: Bool
    /// Whether the future stays pending until the work has ended, even if it is cancelled.
    final let endsWithWork: Bool
    /// The error for a wait that has ended before the future completed.
    @exclusivity(unchecked) final var failure: (any Error)?
    /// The task, which is alive until the body has ended.
    final var task: Task<Void, Never>?
    /// The object that the body works for, or `nil` if it has no name for a report.
    private final let client: (any BodyClient)?
    private final let callers: Callers

    /// Creates the producer of `cell`.
    init(completing cell: Cell, for client: (any BodyClient)?, isOnMain: Bool, endsWithWork: Bool) {
        self.cell = cell
        self.client = client
        self.isOnMain = isOnMain
        self.endsWithWork = endsWithWork
        callers = Callers(on: cell.loop)
        super.init()
        cell.promiseWasMade(#fileID, #line)
        cell.setProducer(self)
    }

    deinit { cell.promiseWasReleased(#fileID, #line) }

    /// Does the work in the isolation of the caller, and keeps the outcome.
    func work() async {}

    /// Completes the future with the outcome of the work. Called on the loop.
    func end() {}

    /// The name of the body for a report. In a debug build it contains the place where the body was made.
    final var name: String {
        let name = client.map { "a body of \($0)" } ?? "a body"
        return callers.place.map { "\(name) made at \($0)" } ?? name
    }

    // MARK: Waiting

    /// Begins to wait for `future`, which is pending. After this call the task goes to `Parking`.
    final func wait(for future: CellPointer, on loop: LoopCore) {
        if loop.hasTraces { loop.noteWait(of: self) }
        let new = Cell.waiting(loop, step: unsafe BodyWait(body: .passUnretained(self)))
        let observer = CellPointer(givenAway: new)
        unsafe self.observer = observer
        future.registerOwn(observer)
        loop.parking.expect(self)
    }

    /// Begins to wait as `wait` says. After this call the task goes to `Parking`.
    final func wait(for wait: ElementWait, on loop: LoopCore) {
        unsafe elementWait = wait
        loop.parking.expect(self)
        if loop.hasTraces { loop.noteWait(of: self) }
    }

    /// Ends the wait, and continues the task: within this call, or as a job of its own if `later` is `true`.
    final func goOn(on loop: LoopCore, later: Bool = false) {
        unsafe observer = nil
        unsafe elementWait = nil
        guard let job = unsafe job.take() else { return }
        if later { return loop.runLater(job) }
        loop.bodies.hasGoneOn(self)
        loop.run(job)
    }

    // MARK: Cancelling

    /// Ends the wait with an error. Does nothing if the outcome of the awaited future is already on its way,
    /// so that the value is not lost, or if that future ignores cancellation.
    ///
    /// Asks the awaited future to cancel, except during a shutdown of the loop: the shutdown itself ends that
    /// future.
    private final func cancel() {
        let loop = cell.loop
        isCancelled = true
        let error: any Error = loop.isShutDown ? FutureError.shutDown : CancellationError()
        if let wait = unsafe elementWait {
            wait.endWait(with: error)
        } else {
            guard let observer = unsafe observer, !observer.flags.contains(.isQueued) else { return }
            if let shield = observer.source?.shield { return shield.hearsOfCancelledWait() }
            loop.bodies.end(self, with: error)
            observer.object.stopObserving(cancelling: !loop.isShutDown)
        }
        goOn(on: loop, later: true)
    }

    final override func cancellationRequested(by cell: CellPointer) -> Answer {
        guard endsWithWork else { return .cancel }
        settled()
        return .willComplete
    }

    final override var awaited: Awaited? {
        if let wait = unsafe elementWait { return wait.source.map { .object($0) } }
        return unsafe observer?.source.map { .cell($0) }
    }

    final override var subject: String? { "a body" }

    /// Cancels the task if it has not ended: nothing needs the outcome any more.
    final override func settled() {
        task?.cancel()
        cancel()
    }
}

/// An object that a body works for. Its description is in reports.
@usableFromInline
package typealias BodyClient = AnyObject & CustomStringConvertible

extension Body: CancellationHandler {
    /// Cancels the body later: the task holds a lock now, and the cancellation runs code of users.
    final func taskWasCancelled() { cell.loop.accept { self.cancel() } }
}

/// The step of the observer of what a body waits for. The list of bodies keeps the body alive while it waits.
@safe
private struct BodyWait: Step {
    let body: Unmanaged<Body>

    func run(source: CellPointer, target: CellPointer) {
        // This must be the last call of the callback, because it runs the task.
        target.withLoop { loop in unsafe body._withUnsafeGuaranteedRef { $0.goOn(on: loop) } }
    }
}
