internal import CFuturesRuntime
internal import Synchronization

/// The thread that a loop belongs to. Some loops move with a task from thread to thread: for these, also the
/// task. Any thread may read it.
struct LoopHome: ~Copyable {
    /// Whether the loop moves to the thread of its task whenever nobody runs the loop.
    let movesWithTasks: Bool
    /// The identity of the thread. 0 if the loop belongs to no thread.
    let thread = Atomic(current_thread_identity())
    let isMainThread = Atomic(LoopCore.isMainThread)
    /// The task that the loop belongs to, and whether somebody runs the loop. Used only if the loop moves
    /// with tasks.
    let task = Atomic(LoopCore.currentTask)
    let isDriven = Atomic(false)

    init(movesWithTasks: Bool) { self.movesWithTasks = movesWithTasks }
}

extension LoopCore {
    /// Whether the loop's thread is the main thread.
    var isOfMainThread: Bool { home.isMainThread.load(ordering: .relaxed) }

    /// Whether the caller is on the loop's thread. May be read on any thread.
    var isCaller: Bool {
        // Inlined, since threads that submit jobs ask this each time and get the answer at once.
        @inline(__always) get { isOnItsThread && (!home.movesWithTasks || isOfCaller) }
    }

    private var isOfCaller: Bool {
        @inline(never) get { home.isDriven.load(ordering: .relaxed) || isOfThisTask }
    }

    /// Whether the caller is on the loop's thread. Any task of that thread counts.
    var isOnItsThread: Bool { current_thread_identity() == home.thread.load(ordering: .relaxed) }

    @usableFromInline
    package func checkThread() {
        if !isOnItsThread { moveToTask(or: trapOffThread) }
    }

    /// Throws `FutureError.shutDown` if the loop has been shut down. Traps as `checkThread` does.
    package func checkRuns() throws(FutureError) {
        checkThread()
        guard !isShutDown else { throw .shutDown }
    }

    @inline(never)
    private func trapOffThread() -> Never { Misuse.wrongThread(home: home.task.load(ordering: .relaxed)) }

    /// Moves the loop to the calling thread, if nothing is alive on the loop. Otherwise only the loop's task
    /// may move it. `call` is the name of the public function that the user has called.
    func claimThread(for call: String) {
        guard !isCurrent else { return }
        checkProcess()
        if counts.cells > 0 || liveHandles > 0 { return moveToTask { Misuse.runElsewhere(call) } }
        moveToThisThread()
    }

    /// Moves the loop to the calling thread if the caller is the task that owns the loop and nobody runs the
    /// loop. Otherwise calls `trap`.
    @inline(never)
    func moveToTask(or trap: () -> Never) {
        checkProcess()
        guard home.movesWithTasks, EventLoop.isInTask, isOfThisTask, !home.isDriven.load(ordering: .acquiring)
        else { trap() }
        moveToThisThread()
    }

    /// Makes the loop move with the task to which `other` belongs.
    package func moveWithTask(of other: LoopCore) {
        home.task.store(other.home.task.load(ordering: .relaxed), ordering: .relaxed)
    }

    var isOfThisTask: Bool { home.task.load(ordering: .relaxed) == EventLoop.currentTask }

    func moveToThisThread() {
        OwningThreads.move(self, toCallingThread: true)
        home.isMainThread.store(EventLoop.isMainThread, ordering: .relaxed)
        home.task.store(EventLoop.currentTask, ordering: .relaxed)
    }

    /// Takes the loop from its thread, which is about to end. The loop then belongs to no thread until one
    /// claims it.
    package func leaveThread() { OwningThreads.move(self, toCallingThread: false) }
}
