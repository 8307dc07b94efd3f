/// The task executor that the tasks behind ``Future/init(on:isolation:_:)`` prefer. Nonisolated code of these tasks
/// runs on the loop, no matter how the closure was written.
///
/// The loop itself is not this executor, because it could not tell which executor a job prefers. A task that
/// continues without its preference has to go through the ready queue at each change of isolation.
final class BodyExecutor: TaskExecutor, @unchecked Sendable {
    // Sendable because `loop` is set once, before another thread knows this object. Only the loop's thread
    // uses the rest.
    @exclusivity(unchecked) private unowned(unsafe) var loop: LoopCore!
    /// The origin for the first job of the task that is being made.
    var new: TaskJob.Origin?
    /// Whether the first job of a task is running.
    var isStarting = false
    /// The job that a starting task has left behind.
    var started: UnownedJob?

    func belong(to loop: LoopCore) { unsafe self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let loop = unsafe loop!
        let first = loop.isOnItsThread ? new.take() : nil
        loop.runLater(TaskJob(job: UnownedJob(job), origin: first ?? .bodyOnNothing))
    }
}
