internal import CRuntime
internal import Synchronization

/// The thread that a loop belongs to, and the task, if it goes with that from thread to thread. Any thread may look.
struct LoopHome: ~Copyable {
    /// Whether the loop, at rest, goes with the task that it belongs to.
    let movesWithTasks: Bool
    /// The identity of the thread.
    let thread = Atomic(current_thread_identity())
    let isMainThread = Atomic(LoopCore.isMainThread)
    /// Of a loop that moves: the task that it belongs to, and whether somebody drives it.
    let task = Atomic(LoopCore.currentTask)
    let isDriven = Atomic(false)

    init(movesWithTasks: Bool) { self.movesWithTasks = movesWithTasks }
}

extension LoopCore {
    /// Whether the loop's thread is the main thread.
    var isOfMainThread: Bool { home.isMainThread.load(ordering: .relaxed) }

    /// Whether the caller is on the loop's thread. Any thread.
    var isCaller: Bool {
        // Inlined: to other threads, which give it jobs, it says no at once.
        @inline(__always) get { isOnItsThread && (!home.movesWithTasks || isOfCaller) }
    }

    private var isOfCaller: Bool {
        @inline(never) get { home.isDriven.load(ordering: .relaxed) || isOfThisTask }
    }

    /// Whether the caller is on the loop's thread, whatever its task.
    var isOnItsThread: Bool { current_thread_identity() == home.thread.load(ordering: .relaxed) }

    @usableFromInline
    package func checkThread() {
        if !isOnItsThread { moveToTask(or: Misuse.wrongThread) }
    }

    /// Moves a loop that nothing has used yet to the calling thread.
    func claimThread(for call: String) {
        guard !isCurrent else { return }
        checkProcess()
        if counts.cells > 0 || liveHandles > 0 { return moveToTask { Misuse.runElsewhere(call) } }
        moveToThisThread()
    }

    /// Moves the loop to the calling thread if the caller is the task that owns the loop.
    @inline(never)
    func moveToTask(or trap: () -> Never) {
        checkProcess()
        guard home.movesWithTasks, EventLoop.isInTask, isOfThisTask, !home.isDriven.load(ordering: .acquiring)
        else { trap() }
        moveToThisThread()
    }

    var isOfThisTask: Bool { home.task.load(ordering: .relaxed) == EventLoop.currentTask }

    func moveToThisThread() {
        OwningThreads.move(self, toCallingThread: true)
        home.isMainThread.store(EventLoop.isMainThread, ordering: .relaxed)
        home.task.store(EventLoop.currentTask, ordering: .relaxed)
    }

    /// Leaves the loop without a thread, which ends, until another one claims it.
    package func leaveThread() { OwningThreads.move(self, toCallingThread: false) }
}
