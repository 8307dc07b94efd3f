internal import CFuturesRuntime
internal import Glibc

// The ways in which jobs of actors and tasks reach a loop.

extension EventLoop {
    /// The loop that is running on the calling thread. A loop is running while a callback of the loop runs,
    /// or while ``run()`` has not returned. The value is `nil` if no loop is running on that thread.
    public static var current: EventLoop? {
        guard let pointer = unsafe pthread_getspecific(currentKey) else { return nil }
        return unsafe Unmanaged<LoopCore>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs `body`. Meanwhile `current` is `loop`.
    package static func withCurrent<Result>(_ loop: LoopCore, _ body: () throws -> Result) rethrows -> Result
    {
        let outer = unsafe pthread_getspecific(currentKey)
        unsafe pthread_setspecific(currentKey, Unmanaged.passUnretained(loop).toOpaque())
        defer { unsafe pthread_setspecific(currentKey, outer) }
        return try body()
    }

    private static let currentKey = makeThreadKey()

    package static var isMainThread: Bool { is_main_thread() }

    /// Whether a task runs on the calling thread.
    package static var isInTask: Bool { currentTask != 0 }

    static var currentTask: UInt { unsafe UInt(bitPattern: swift_task_getCurrent()) }
}

extension EventLoop: SerialExecutor, TaskExecutor {
    /// Runs a job of an actor that has this loop as its executor, or of a task that prefers this loop. The
    /// Swift runtime calls this function. May be called on any thread.
    ///
    /// Traps if the loop has been shut down, because the job cannot run on another executor, and without the
    /// job its task would never end.
    public final func enqueue(_ job: consuming ExecutorJob) { core.accept(UnownedJob(job)) }

    /// Returns the executor of this loop. All objects that refer to this loop return the same executor. So
    /// all code that runs on the loop is isolated to one executor.
    ///
    /// ```swift
    /// actor Index {
    ///     let loop: EventLoop
    ///     init(on loop: EventLoop) { self.loop = loop }
    ///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// }
    /// ```
    public final func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: core)
    }

    public final func checkIsolated() { core.checkThread() }

    public final func isIsolatingCurrentContext() -> Bool? {
        isCurrent ? true : core.home.movesWithTasks ? nil : false
    }
}

extension LoopCore {
    fileprivate func accept(_ job: UnownedJob) {
        if isOnItsThread, bodyExecutor.isStarting {
            bodyExecutor.started = job
        } else if !accept({ self.run(job) }) {
            Misuse.actorOutlivesLoop()
        }
    }

    /// Runs a job of a task. The job is isolated to this loop.
    func run(_ job: UnownedJob) {
        turnState.isInJob = true
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        turnState.isInJob = false
    }
}

/// An actor that isolates a task to a loop. Used for tasks that belong to no actor of the user.
actor LoopTask {
    let loop: LoopCore

    init(_ loop: LoopCore) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    fileprivate func value<Value: Sendable>(
        of body: @Sendable () throws -> Future<Value>
    ) async throws -> Value {
        try await body().given(to: loop).value
    }
}

/// An executor that brings a task to a loop. If the loop has been shut down, this executor runs the task's
/// job on the calling thread. The executor of the loop itself would trap.
actor Visit: SerialExecutor {
    private let loop: LoopCore

    init(_ loop: LoopCore) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !loop.accept({ [loop] in loop.run(job) }) {
            unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func run<Value: Sendable>(_ body: @Sendable () throws -> Future<Value>) async throws -> Value {
        guard loop.isCurrent, loop.ending.phase != .closed else { throw FutureError.shutDown }
        return try await LoopTask(loop).value(of: body)
    }
}
