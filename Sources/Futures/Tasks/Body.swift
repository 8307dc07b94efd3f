/// The task behind ``Future/init(on:isolation:_:)``, as its waits know it: it hears of its cancellation once for all of them.
final class Body: @unchecked Sendable {
    // Sendable because all of it is touched on the loop's thread only.

    /// What the task waits for, by an observer of that.
    @exclusivity(unchecked) private var observer: CellObject?
    /// What the task has left behind to wait.
    @exclusivity(unchecked) var job: TaskJob?
    /// Why the wait has ended before its time.
    @exclusivity(unchecked) var failure: (any Error)?
    private(set) var isCancelled = false
    /// Which it is of the loop, and its task's identity.
    let number: Int
    var task: UInt = 0

    init(_ number: Int) { self.number = number }

    /// Begins to wait for `future`, which is pending. The task goes to `Parking` next.
    func wait(for future: CellObject) {
        let observer = future.waiting(BodyWait(body: self))
        unsafe self.observer = observer
        future.registerObserver(observer, when: .all.on(.loop))
        future.parking.expect(self)
    }

    fileprivate func goOn(on loop: EventLoop) {
        unsafe observer = nil
        loop.bodies.hasGoneOn(self)
        if let job = unsafe job.take() { loop.run(job) }
    }

    /// Ends the wait, unless the outcome is on its way: its value may be gone otherwise.
    func endWait(with error: any Error, on loop: EventLoop) {
        guard let observer = unsafe observer, !observer.isQueued else { return }
        unsafe self.observer = nil
        unsafe failure = error
        observer.stopObserving(cancelling: true)
        if let job = unsafe job.take() { loop.runLater(job) }
    }

    fileprivate func cancel(on loop: EventLoop) {
        isCancelled = true
        endWait(with: CancellationError(), on: loop)
    }
}

private struct BodyWait: Step {
    let body: Body

    func run(source: Cell, target: Cell) {
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

extension EventLoop {
    /// Starts a task that runs `work`, and then, on the loop, `ended`. It is isolated to the loop, or to the main actor if
    /// `work` is, and what of it is isolated to nothing runs on the loop as well.
    func startBody(
        isOnMain: Bool, _ work: @escaping () async -> Void, ended: @escaping () -> Void
    ) -> Task<Void, Never> {
        // They stay on this thread, or go where the user's code says.
        nonisolated(unsafe) let (work, ended) = (work, ended)
        let isolation = LoopTask(self)
        let body = bodies.make()
        bodyExecutor.new = isOnMain ? .startOnMain : .startOnLoop
        let task = Task(executorPreference: bodyExecutor) {
            unsafe await isolation.run(work, of: body, isOnMain: isOnMain, ended)
        }
        bodies.add(body, of: task)
        return task
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
            executeAtOnce { body.cancel(on: self) }
        }
    }

    fileprivate func end(_ body: Body, _ ended: () -> Void) {
        bodies.remove(body)
        ended()
    }
}
