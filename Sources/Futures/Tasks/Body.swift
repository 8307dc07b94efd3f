/// The record of a task behind ``Future/init(on:isolation:_:)``. It knows what the task waits for, so the
/// task needs only one cancellation handler for all its waits.
final class Body: @unchecked Sendable {
    // Sendable because only the loop's thread uses its properties.

    /// The observer of the future that the task waits for, or `nil` if the task does not wait.
    @exclusivity(unchecked) private var observer: Cell?
    /// The wait of the task for an element of a sequence, if it waits for that and not for a future.
    @exclusivity(unchecked) private unowned(unsafe) var elementWait: ElementWait?
    /// The job that continues the waiting task.
    @exclusivity(unchecked) var job: TaskJob?
    /// The error for a wait that has ended before the future completed.
    @exclusivity(unchecked) var failure: (any Error)?
    private(set) var isCancelled = false
    /// The identity of the body's task.
    var task: UInt = 0
    /// The object that the body works for, or `nil` if it has no name for a report.
    private let subject: (any CustomStringConvertible)?
    #if DEBUG
        private let callers: Callers
    #endif

    init(of subject: (any CustomStringConvertible)?, on loop: LoopCore) {
        self.subject = subject
        #if DEBUG
            callers = Callers(on: loop)
        #endif
    }

    /// The name of the body for a report. In a debug build it contains the place where the body was made.
    var name: String {
        let name = subject.map { "a body of \($0)" } ?? "a body"
        #if DEBUG
            if let place = callers.place { return "\(name) made at \(place)" }
        #endif
        return name
    }

    /// Begins to wait for `future`, which is pending. After this call the task goes to `Parking`.
    func wait(for future: Cell) {
        let observer = future.waiting(BodyWait(body: self))
        unsafe self.observer = observer
        future.registerObserver(observer, when: .all.on(.loop))
        future.parking.expect(self)
    }

    /// Begins to wait as `wait` says. After this call the task goes to `Parking`.
    func wait(for wait: ElementWait, on loop: LoopCore) {
        unsafe elementWait = wait
        loop.parking.expect(self)
    }

    /// Ends the wait, and continues the task: within this call, or as a job of its own if `later` is `true`.
    func goOn(on loop: LoopCore, later: Bool = false) {
        unsafe observer = nil
        unsafe elementWait = nil
        guard let job = unsafe job.take() else { return }
        if later { return loop.runLater(job) }
        loop.bodies.hasGoneOn(self)
        loop.run(job)
    }

    /// Ends the wait with an error. Does nothing if the outcome of the awaited future is already on its way,
    /// so that the value is not lost.
    ///
    /// Asks the awaited future to cancel, except during a shutdown of the loop: the shutdown itself ends that
    /// future.
    func cancel(on loop: LoopCore) {
        isCancelled = true
        let error: any Error = loop.isShutDown ? FutureError.shutDown : CancellationError()
        if let wait = unsafe elementWait {
            wait.endWait(with: error)
        } else {
            guard let observer = unsafe observer, !observer.isQueued else { return }
            unsafe failure = error
            observer.stopObserving(cancelling: !loop.isShutDown)
        }
        goOn(on: loop, later: true)
    }
}

/// The step of the observer of what a body waits for.
private struct BodyWait: Step {
    let body: Body

    func run(source: CellPointer, target: CellPointer) {
        // This must be the last call of the callback, because it runs the task.
        target.withLoop { body.goOn(on: $0) }
    }
}

extension LoopTask {
    fileprivate func run(
        _ work: @escaping () async -> Void, of body: Body, isOnMain: Bool, _ ended: () -> Void
    ) async {
        nonisolated(unsafe) let work = work
        if isOnMain {
            unsafe await loop.runOnMain(work, of: body)
        } else {
            unsafe await loop.run(work, of: body)
        }
        loop.end(body, ended)
    }
}

extension LoopCore {
    /// Starts a task that runs `work`, and then calls `ended` on the loop. If `isOnMain` is `true`, `work` is
    /// isolated to the main actor, otherwise to the loop. Parts of `work` that are isolated to nothing run on
    /// the loop as well.
    func startBody(
        of subject: (any CustomStringConvertible)?, isOnMain: Bool, _ work: @escaping () async -> Void,
        ended: @escaping () -> Void
    ) -> (Task<Void, Never>, Body) {
        // The closures stay on this thread, or run where the user's code says.
        nonisolated(unsafe) let (work, ended) = (work, ended)
        let isolation = LoopTask(self)
        let body = Body(of: subject, on: self)
        bodyExecutor.new = isOnMain ? .startOnMain : .startOnLoop
        let task = Task(executorPreference: bodyExecutor) {
            unsafe await isolation.run(work, of: body, isOnMain: isOnMain, ended)
        }
        bodies.add(body, of: task)
        return (task, body)
    }

    @MainActor
    fileprivate func runOnMain(_ work: () async -> Void, of body: Body) async { await run(work, of: body) }

    fileprivate func run(
        _ work: () async -> Void, of body: Body, isolation: isolated (any Actor)? = #isolation
    ) async {
        await withTaskCancellationHandler {
            // The closure runs in the isolation that it mentions.
            _ = isolation
            await work()
        } onCancel: {
            // The cancellation must not run here: the task holds a lock, and the cancellation runs code of
            // users.
            execute { body.cancel(on: self) }
        }
    }

    fileprivate func end(_ body: Body, _ ended: () -> Void) {
        bodies.remove(body)
        ended()
    }
}
