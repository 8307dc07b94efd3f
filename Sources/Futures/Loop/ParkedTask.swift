/// A task that waits for a future: its next job is kept here until it may go on.
final class ParkedTask: Waiter {
    /// Whether the wait is over. A task that is isolated to nothing may come too late to park.
    private(set) var isOver = false
    /// What ended the wait before the future had completed.
    private(set) var error: (any Error)?
    fileprivate var job: UnownedJob?

    override func ended(_ end: Result<Cell, any Error>) {
        isOver = true
        switch end {
        case .success:
            // A callback of the loop ends with this.
            if let job { loop.run(job) }
        case .failure(let error):
            self.error = error
            guard let job else { return }
            if !loop.execute({ [loop] in loop.run(job) }) { Misuse.actorOutlivesLoop() }
        }
    }
}

/// Where tasks wait for futures of a loop: an executor that runs nothing by itself.
///
/// A task that goes there leaves its next job behind, which is then run isolated to the loop, and so goes on without a
/// detour if that is where it came from. A continuation would go on by way of another thread, or, with a preference for a
/// task executor, by way of the ready queue twice.
actor Parking: SerialExecutor {
    nonisolated(unsafe) private var arriving: ParkedTask?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    /// Returns when the task may go on. On the loop's thread.
    nonisolated(nonsending) func park(_ task: ParkedTask) async {
        if task.isOver { return }
        unsafe arriving = task
        await stay()
    }

    /// Called on the way here, by the thread that comes.
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        unsafe arriving.take()!.job = UnownedJob(job)
    }

    private func stay() { departed() }

    /// What the optimizer does not see: a function without effect would be no reason to come here.
    @inline(never)
    private nonisolated func departed() {}
}
