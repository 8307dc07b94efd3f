internal import CRuntime

/// The next job of a waiting task, and where to run it.
struct TaskJob {
    let job: UnownedJob
    let origin: Origin

    /// The isolation of a task, as far as a loop can go on with it there, and whether it prefers the loop's
    /// ``BodyExecutor``. A job that runs on anything else goes through a queue before the task's own code goes on.
    enum Origin: UInt8 {
        case loop, main
        case bodyOnLoop, bodyOnMain, bodyOnNothing
        /// The first job of a body.
        case startOnLoop, startOnMain
    }

    init(_ job: UnownedJob, _ origin: Origin) {
        self.job = job
        self.origin = origin
    }
}

extension LoopCore {
    /// Where the task on this thread wants to go on.
    var originOfCurrentTask: TaskJob.Origin {
        let prefersBodyExecutor = swift_task_getPreferredTaskExecutor().identity == identity(of: bodyExecutor)
        if prefersBodyExecutor { return originOfBody }
        return swift_task_getCurrentExecutor().identity == mainActorIdentity ? .main : .loop
    }

    /// Where the task on this thread wants to go on, if it prefers the loop's executor of bodies.
    var originOfBody: TaskJob.Origin {
        switch swift_task_getCurrentExecutor().identity {
        case 0: .bodyOnNothing
        case identity(of: self): .bodyOnLoop
        case mainActorIdentity: .bodyOnMain
        default: .loop
        }
    }

    /// Goes on with a task, within a callback of the loop.
    func run(_ task: TaskJob) {
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

    /// Runs the first job of a body, which is isolated to nothing and comes to the loop at once, and goes on with it
    /// on `origin`. The main actor's own executor would need somebody to do the work of the main queue.
    private func start(_ job: UnownedJob, _ origin: TaskJob.Origin) {
        bodyExecutor.isStarting = true
        unsafe job.runSynchronously(on: bodyExecutor.asUnownedTaskExecutor())
        bodyExecutor.isStarting = false
        run(TaskJob(bodyExecutor.started.take()!, origin))
    }

    /// Goes on with a task in a turn of its own. Any thread.
    func runLater(_ task: TaskJob) {
        if !execute({ self.run(task) }) { Misuse.actorOutlivesLoop() }
    }

    /// Whether this thread does the work of the main actor now: it is the main thread, or its loop is driven from the
    /// main actor.
    private var isOnMainActor: Bool {
        isOfMainThread || swift_task_getCurrentExecutor().identity == mainActorIdentity
    }

    private func identity(of executor: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(executor)) }
}

private let mainActorIdentity = unsafe unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self).0
