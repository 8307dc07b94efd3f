internal import Synchronization

/// What a loop consists of, behind the ``EventLoop`` that its user holds. What is on the loop holds the core, and so
/// does not keep alive a loop that its user has released.
@usableFromInline
package final class LoopCore: EventLoop, @unchecked Sendable {
    // Sendable because all state below is touched on the loop's thread only, except for what says otherwise.

    package let driver: any LoopDriver
    /// Whether somebody else runs the loop, until ``detach()``.
    let isAttached: Bool
    /// Any thread.
    let home: LoopHome
    /// Any thread.
    let inbox = Inbox()
    /// Any thread: whether `stop` was called, and no run has ended because of it.
    let stopRequested = Atomic(false)

    // What is to run, and what follows when it has.
    var turnState = TurnState()
    var ready = ReadyQueue()
    var contexts = ContextQueues()
    let timers = TimerHeap()
    var coarse = CoarseWheel()
    var jobs = JobList()
    /// Whether the jobs have their place in the ready queue.
    var areJobsQueued = false
    let propagation = Propagation()

    // What is alive.
    var counts = LoopCounts()
    var promises = PromiseList()
    let abandonment = Abandonment()
    /// What other threads know by a number.
    let remotes = RemoteTable()
    var completedVoid: Cell?
    /// What the streams keep with the loop.
    package var streams: AnyObject?

    // Tasks.
    @usableFromInline let parking = Parking()
    let bodyExecutor = BodyExecutor()
    let bodies = BodyList()

    // What is told about the loop.
    var work = LoopWork()
    let unhandled = UnhandledFailures()
    var slowCallbacks: SlowCallbackWatch?
    var observer: ((LoopEvent) -> Void)?
    var slowTurns = ReportLimit()
    #if DEBUG
        /// Where the promises that somebody holds were made.
        var promiseSites: [ObjectIdentifier: (file: StaticString, line: UInt)] = [:]
    #endif

    var ending = LoopEnding()
    // Apart from what others may set: only then is no look at it checked at run time.
    private var latestNow: UInt64 = 0

    package init(driver: any LoopDriver, isAttached: Bool = false, movesWithTasks: Bool = false) {
        self.driver = driver
        self.isAttached = isAttached
        home = LoopHome(movesWithTasks: movesWithTasks)
        super.init(asCore: ())
        OwningThreads.add(self)
        propagation.belong(to: self)
        bodyExecutor.belong(to: self)
        parking.belong(to: self)
    }

    deinit {
        OwningThreads.remove(self)
        // No future is alive: they retain the loop. So nothing can be pending but an idle driver.
        if ending.phase == .open {
            _ = inbox.close()
            driver.close {}
        }
    }

    /// Whether `shutdown` was called: nothing new is to be started.
    package var isShutDown: Bool { ending.phase != .open }

    /// Monotonic time in nanoseconds, on the clock of the timers. Virtual on a virtual loop.
    ///
    /// Never goes back. The clocks of some virtual machines do, and every difference of two readings relies on this.
    package var clock: UInt64 {
        let now = driver.now
        if now > latestNow { latestNow = now }
        return latestNow
    }
}

/// How much is alive on a loop.
struct LoopCounts {
    var cells = 0
    var promises = 0
    /// The driver's handles that users hold, and the connections among them.
    var handles = 0
    var connections = 0
}

extension LoopCore {
    package var liveHandles: Int { counts.handles }

    package func count(handles change: Int) { counts.handles += change }
    package func count(connections change: Int) { counts.connections += change }

    // The loop is retained while a cell of it is alive.

    @inline(__always)
    func cellWasMade() {
        if counts.cells == 0 { retainItself() }
        counts.cells &+= 1
    }

    @inline(__always)
    func cellWasFreed() {
        counts.cells &-= 1
        if counts.cells == 0 { releaseItself() }
    }

    func retainItself() { unsafe _ = Unmanaged.passRetained(self) }
    func releaseItself() { unsafe Unmanaged.passUnretained(self).release() }
}
