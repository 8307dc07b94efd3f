internal import CRuntime
internal import Synchronization

/// What a loop consists of, behind the ``EventLoop`` that its user holds. What is on the loop holds the core, and so
/// does not keep alive a loop that its user has released.
@usableFromInline
package final class LoopCore: EventLoop, @unchecked Sendable {
    // Sendable because all state below is touched on the loop's thread only, except for what says otherwise.

    package let driver: any LoopDriver
    /// Whether somebody else runs the loop, until ``detach()``.
    let isAttached: Bool
    /// Whether the loop, at rest, goes with the task that it belongs to, from thread to thread.
    let movesWithTasks: Bool
    /// Any thread, of a loop that moves: the task that it belongs to, and whether somebody drives it.
    let task = Atomic(LoopCore.currentTask)
    let isDriven = Atomic(false)
    /// Any thread.
    let inbox = Inbox()
    /// Any thread: the identity of the loop's thread.
    let thread = Atomic(current_thread_identity())
    /// Whether the loop's thread is the main thread.
    var isOfMainThread = LoopCore.isMainThread
    /// Any thread: whether `stop` was called, and no run has ended because of it.
    let stopRequested = Atomic(false)

    var ready = ReadyQueue()
    @usableFromInline let parking = Parking()
    let bodyExecutor = BodyExecutor()
    var jobs = JobList()
    /// Whether the jobs have their place in the ready queue.
    var areJobsQueued = false
    /// How many of the jobs may still run in this turn.
    var jobAllowance = 0
    var contexts = ContextQueues()
    let timers = TimerHeap()
    var coarse = CoarseWheel()
    let graveyard = Graveyard()
    var hasWorkLeft = false
    var releaseDepth = 0
    let unhandled = UnhandledFailures()
    var slowCallbacks: SlowCallbackWatch?
    var abandonmentWatches: [UInt64: WatchedCell] = [:]
    /// Futures that nothing completes, and that only their consumers hold.
    var orphanages = Fifo<Forever>()
    /// Whether either of these has members. Looking at them directly would be checked at run time each time.
    var watchesAbandonment = false
    var lastWatchNumber: UInt64 = 0
    var promises = PromiseList()
    #if DEBUG
        /// Where the promises that somebody holds were made.
        var promiseSites: [ObjectIdentifier: (file: StaticString, line: UInt)] = [:]
    #endif
    /// Cells that are still to be dealt with, each with a reference. Changing this runs no user code, and each look
    /// at it would be checked at run time.
    @exclusivity(unchecked) var passingOn: [CellPointer] = []
    var isDistributing = false
    var pendingCancellations: [PendingCancellation] = []
    var isCancelling = false
    /// How many handlers of requests to cancel are nested on the stack.
    var askingDepth = 0
    var tokenActions: [() -> Void] = []
    var isTurning = false
    #if DEBUG
        /// How deep the stack was when the turn began; 0 if none runs.
        var turnDepth: UInt = 0
    #endif
    var isTurnRequested = false
    var isRunning = false
    /// What other threads know by a number.
    var remotes: [UInt64: any Remote] = [:]
    /// Any thread.
    let lastRemoteID = Atomic<UInt64>(0)
    /// What the folder of the streams keeps with the loop.
    package var streams: AnyObject?
    /// The number of things that keep `run` from returning, besides the driver's own.
    var holds = 0
    let bodies = BodyList()
    var completedVoid: Cell?
    var turns: UInt64 = 0
    var work = LoopWork()
    var observer: ((LoopEvent) -> Void)?
    var turnStarted: UInt64 = 0
    var slowTurns = ReportLimit()
    var liveCells = 0
    var livePromises = 0
    // What others may read is stored apart: only then is no look at it checked at run time.
    private var latestNow: UInt64 = 0
    private var handles = 0
    private var connections = 0
    var budget = 4096
    /// The number of the driver's handles that users hold, and the number of connections among them.
    package var liveHandles: Int { handles }
    package var liveConnections: Int { connections }
    var phase = Phase.open
    /// Whether the user's `EventLoop` has been released, so that the current run is the last.
    var hasLostOwner = false
    var detachment: Detachment?
    /// How long the end of the loop waits before it reports what it waits for.
    package var patienceAtEnd: Duration = .seconds(5)
    /// When the wait for bodies at the end of the loop counts as long. `.max` once that has been reported.
    var endIsSlow: UInt64?

    enum Phase { case open, shuttingDown, closed }

    package init(driver: any LoopDriver, isAttached: Bool = false, movesWithTasks: Bool = false) {
        self.driver = driver
        self.isAttached = isAttached
        self.movesWithTasks = movesWithTasks
        super.init(asCore: ())
        OwningThreads.add(self)
        bodyExecutor.belong(to: self)
        parking.belong(to: self)
    }

    deinit {
        OwningThreads.remove(self)
        // No future is alive: they retain the loop. So nothing can be pending but an idle driver.
        if phase == .open {
            _ = inbox.close()
            driver.close {}
        }
    }

    /// Whether the caller is on the loop's thread. Any thread.
    var isCaller: Bool {
        // Inlined: to other threads, which give it jobs, it says no at once.
        @inline(__always) get { isOnItsThread && (!movesWithTasks || isOfCaller) }
    }

    private var isOfCaller: Bool {
        @inline(never) get { isDriven.load(ordering: .relaxed) || isOfThisTask }
    }

    /// Whether the caller is on the loop's thread, whatever its task.
    var isOnItsThread: Bool { current_thread_identity() == thread.load(ordering: .relaxed) }

    @usableFromInline
    package func checkThread() {
        if !isOnItsThread { moveToTask(or: Misuse.wrongThread) }
    }

    /// Whether `shutdown` was called: nothing new is to be started.
    package var isShutDown: Bool { phase != .open }

    /// Monotonic time in nanoseconds, on the clock of the timers. Virtual on a virtual loop.
    ///
    /// Never goes back. The clocks of some virtual machines do, and every difference of two readings relies on this.
    package var clock: UInt64 {
        let now = driver.now
        if now > latestNow { latestNow = now }
        return latestNow
    }

    package func count(handles change: Int) { handles += change }
    package func count(connections change: Int) { connections += change }

    // MARK: The life of the loop: it is retained while a future of it is alive.

    @inline(__always)
    func cellWasMade() {
        if liveCells == 0 { retainItself() }
        liveCells &+= 1
    }

    @inline(__always)
    func cellWasFreed() {
        liveCells &-= 1
        if liveCells == 0 { releaseItself() }
    }
}
