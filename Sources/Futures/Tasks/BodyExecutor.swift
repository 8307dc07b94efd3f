/// The task executor that the tasks behind ``Future/init(on:isolation:_:)`` prefer. Their code that is isolated to
/// nothing runs on the loop as well, however its closure was written.
///
/// Not the loop itself, which could not tell what a job wants to be run on: a task that leaves its preference when it
/// goes on has to go through the ready queue at each change of isolation.
final class BodyExecutor: TaskExecutor, @unchecked Sendable {
    // Sendable because it is set once, before another thread knows of it.
    @exclusivity(unchecked) private unowned(unsafe) var loop: LoopCore!
    // On the loop's thread: the task that is being made, and that runs its first job.
    var new: TaskJob.Origin?
    var isStarting = false
    var started: UnownedJob?

    func belong(to loop: LoopCore) { unsafe self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let loop = unsafe loop!
        let first = loop.isOnItsThread ? new.take() : nil
        loop.runLater(TaskJob(UnownedJob(job), first ?? .bodyOnNothing))
    }
}
