/// Knows what the task behind ``Future/init(on:isolation:_:)`` waits for, so that one cancellation handler serves all
/// its waits.
final class Body: @unchecked Sendable {
    // Sendable because all of it is touched on the loop's thread only.

    /// The observer of what the task waits for.
    @exclusivity(unchecked) private var observer: Cell?
    /// The job that the task has left behind to wait.
    @exclusivity(unchecked) var job: TaskJob?
    /// The error that has ended the wait before its time.
    @exclusivity(unchecked) var failure: (any Error)?
    private(set) var isCancelled = false
    /// The identity of the body's task.
    var task: UInt = 0
    /// What or whom the body works for, if that has a name.
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

    /// The name for a person, with the place where the body was made, if the library was built for debugging.
    var name: String {
        let name = subject.map { "a body of \($0)" } ?? "a body"
        #if DEBUG
            if let place = callers.place { return "\(name) made at \(place)" }
        #endif
        return name
    }

    /// Begins to wait for `future`, which is pending. The task goes to `Parking` next.
    func wait(for future: Cell) {
        let observer = future.waiting(BodyWait(body: self))
        unsafe self.observer = observer
        future.registerObserver(observer, when: .all.on(.loop))
        future.parking.expect(self)
    }

    fileprivate func goOn(on loop: LoopCore) {
        unsafe observer = nil
        loop.bodies.hasGoneOn(self)
        if let job = unsafe job.take() { loop.run(job) }
    }

    /// Ends the wait, unless the outcome is on its way: its value may be gone otherwise. When the loop is shut down,
    /// that itself ends what was waited for.
    func cancel(on loop: LoopCore) {
        isCancelled = true
        guard let observer = unsafe observer, !observer.isQueued else { return }
        unsafe self.observer = nil
        unsafe failure = loop.isShutDown ? FutureError.shutDown : CancellationError()
        observer.stopObserving(cancelling: !loop.isShutDown)
        if let job = unsafe job.take() { loop.runLater(job) }
    }
}

private struct BodyWait: Step {
    let body: Body

    func run(source: CellPointer, target: CellPointer) {
        // A callback of the loop ends with this.
        target.withLoop { body.goOn(on: $0) }
    }

    typealias Output = Void
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
    /// Starts a task that runs `work`, and then, on the loop, `ended`. The task is isolated to the loop, or to the
    /// main actor if `work` is. Its parts that are isolated to nothing run on the loop as well.
    func startBody(
        of subject: (any CustomStringConvertible)?, isOnMain: Bool, _ work: @escaping () async -> Void,
        ended: @escaping () -> Void
    ) -> (Task<Void, Never>, Body) {
        // They stay on this thread, or go where the user's code says.
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
            // A closure that mentions the isolation runs in it.
            _ = isolation
            await work()
        } onCancel: {
            // Not at once: a lock of the task is held here, and cancelling runs code of others.
            execute { body.cancel(on: self) }
        }
    }

    fileprivate func end(_ body: Body, _ ended: () -> Void) {
        bodies.remove(body)
        ended()
    }
}
