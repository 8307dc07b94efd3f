internal import CFuturesRuntime

/// The job that continues a waiting task, and the executor to run the job on.
struct TaskJob {
    let job: UnownedJob
    let origin: Origin

    /// The isolation of a task, and whether the task prefers the loop's ``BodyExecutor``. If the job ran on a
    /// different executor, it would go through a queue before the code of the task continues.
    enum Origin: UInt8 {
        /// A task that does not prefer the loop's ``BodyExecutor``, or that is isolated to a different actor.
        case loop, main
        /// A task that prefers the loop's ``BodyExecutor``.
        case bodyOnLoop, bodyOnMain, bodyOnNothing
        /// A body whose first job has not run.
        case startOnLoop, startOnMain
    }
}

extension LoopCore {
    /// The origin of the current task.
    var originOfCurrentTask: TaskJob.Origin {
        let preferred = swift_task_getPreferredTaskExecutor().identity
        if preferred == identity(of: bodyExecutor) { return originOfBody }
        return swift_task_getCurrentExecutor().identity == mainActorIdentity ? .main : .loop
    }

    /// The origin of the current task, which prefers the loop's ``BodyExecutor``.
    var originOfBody: TaskJob.Origin {
        switch swift_task_getCurrentExecutor().identity {
        case 0: .bodyOnNothing
        case identity(of: self): .bodyOnLoop
        case mainActorIdentity: .bodyOnMain
        default: .loop
        }
    }

    /// Continues a task, within a callback of the loop.
    func run(_ task: TaskJob) {
        turnState.isInJob = true
        defer { turnState.isInJob = false }
        let job = task.job
        switch task.origin {
        case .bodyOnLoop:
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: bodyExecutor.asUnownedTaskExecutor())
        case .bodyOnNothing:
            unsafe job.runSynchronously(on: bodyExecutor.asUnownedTaskExecutor())
        case .bodyOnMain where isOnMainActor:
            unsafe job.runSynchronously(
                isolatedTo: MainActor.sharedUnownedExecutor,
                taskExecutor: bodyExecutor.asUnownedTaskExecutor())
        case .main where isOnMainActor:
            unsafe job.runSynchronously(on: MainActor.sharedUnownedExecutor)
        case .startOnLoop: start(job, .bodyOnLoop)
        case .startOnMain: start(job, .bodyOnMain)
        case .loop, .main, .bodyOnMain: run(job)
        }
    }

    /// Runs the first job of a body, and then the next job as `origin` says. The first job is isolated to
    /// nothing, and changes to the isolation of the body at once. The executor of the main actor cannot run
    /// the next job, because nothing serves the main queue meanwhile.
    private func start(_ job: UnownedJob, _ origin: TaskJob.Origin) {
        bodyExecutor.isStarting = true
        unsafe job.runSynchronously(on: bodyExecutor.asUnownedTaskExecutor())
        bodyExecutor.isStarting = false
        run(TaskJob(job: bodyExecutor.started.take()!, origin: origin))
    }

    /// Continues a task in a later turn. May be called on any thread.
    func runLater(_ task: TaskJob) {
        if !accept({ self.run(task) }) { Misuse.actorOutlivesLoop() }
    }

    /// Whether this thread does the work of the main actor now. This is so on the main thread, and on a loop
    /// that is driven from the main actor.
    private var isOnMainActor: Bool {
        isOfMainThread || swift_task_getCurrentExecutor().identity == mainActorIdentity
    }

    private func identity(of executor: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(executor)) }
}

private let mainActorIdentity = unsafe unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self).0
