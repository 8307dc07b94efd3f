internal import Synchronization

/// The state and the parts of a loop, behind the ``EventLoop`` that the user holds. Futures and handles
/// retain the core instead of the user's object. So they do not keep alive a loop that the user has released.
@usableFromInline
package final class LoopCore: EventLoop, @unchecked Sendable {
    // Sendable because only the loop's thread uses the state below, except where a comment says otherwise.

    package let driver: any LoopDriver
    /// The driver in the form in which the modules above use it. Only they know the type.
    package let systemBox: AnyObject?
    /// Whether a host runs the loop, until ``detach()``.
    let isAttached: Bool
    /// The thread that the loop belongs to. May be used on any thread.
    let home: LoopHome
    /// The jobs that other threads submit. May be used on any thread.
    let inbox = Inbox()
    /// The task-locals that closures carry. May be used on any thread.
    let carriedLocals = CarriedLocals()
    /// Whether `stop` was called and no run has ended because of it yet. May be read on any thread.
    let stopRequested = Atomic(false)

    // The work that is ready, and the work that waits.
    var turnState = TurnState()
    // Unchecked, since each message of a stream is counted here.
    @exclusivity(unchecked) @usableFromInline var turnShare = TurnShare()
    var ready = ReadyQueue()
    var contexts = ContextQueues()
    /// The objects that hear of the end of this turn.
    let turnEndings = TurnEndings()
    let timers = TimerHeap()
    /// The timers of objects with deadlines that change often, by their deadlines.
    var coarse: [UInt64: CoarseSlot] = [:]
    var jobs = JobList()
    /// Whether the entry of the jobs is in the ready queue.
    var areJobsQueued = false
    let propagation = Propagation()

    // The objects that are alive.
    var counts = LoopCounts()
    /// The files that are open, which are no handles of the driver.
    package var files = OpenFiles()
    package var watches = OpenWatches()
    var promises = PromiseList()
    let abandonment = Abandonment()
    /// The objects that other threads refer to by a number.
    var remotes: [UInt64: any Remote] = [:]
    /// The number that was given out last. May be read on any thread.
    let lastRemoteID = Atomic<UInt64>(0)
    /// The number of calls of `hold` without a call of `letGo`. `run` does not return while it is positive.
    var holds = 0
    var completedVoid: Cell?
    /// State that `ByteStreams` keeps for its streams on this loop.
    package var streams: AnyObject? {
        get { unsafe streamState }
        set { unsafe streamState = newValue }
    }
    // Unchecked, since other modules would check each access at run time.
    @exclusivity(unchecked) private var streamState: AnyObject?

    // Tasks.
    @usableFromInline let parking = Parking()
    let bodyExecutor = BodyExecutor()
    let bodies = BodyList()

    // Reports about the loop.
    var work = LoopWork()
    /// `nil` if the loop does not measure for how long it is busy.
    var busyTime: BusyTime?
    /// `nil` if nobody watches for callbacks that do not end.
    var blockedWatch: BlockedLoopWatch?
    let unhandled = UnhandledFailures()
    var slowCallbacks: SlowCallbackWatch?
    var observers: [LoopObserver] = [] { didSet { unsafe hasObservers = !observers.isEmpty } }
    // Unchecked, since each turn looks three times.
    @exclusivity(unchecked) private var hasObservers = false
    /// Whether there is an observer. If there is none, nobody needs to make events.
    package var isObserved: Bool { unsafe hasObservers }
    var slowTurns = ReportLimit()
    /// What the loop notes for its snapshots, if it does.
    private(set) var traces: LoopTraces?
    // Unchecked, since each promise and each wait of a body looks.
    @exclusivity(unchecked) private var isTracing = false
    /// Whether there are `traces`.
    @inline(__always) var hasTraces: Bool { unsafe isTracing }

    func trace(_ isWanted: Bool) {
        traces = isWanted ? traces ?? LoopTraces() : nil
        unsafe isTracing = isWanted
    }

    /// The objects that consist of parts, for snapshots.
    var composites = CompositeList()

    var ending = LoopEnding()
    // Private, since the compiler then needs no check at run time for each access.
    private var latestNow: UInt64 = 0

    package init(
        driver: any LoopDriver, systemBox: AnyObject? = nil, isAttached: Bool = false,
        movesWithTasks: Bool = false
    ) {
        self.driver = driver
        self.systemBox = systemBox
        self.isAttached = isAttached
        home = LoopHome(movesWithTasks: movesWithTasks)
        super.init(asCore: ())
        #if DEBUG
            trace(true)
        #endif
        OwningThreads.add(self)
        propagation.belong(to: self)
        bodyExecutor.belong(to: self)
        parking.belong(to: self)
    }

    deinit {
        OwningThreads.remove(self)
        // Each future retains the loop, so none is alive. Only an idle driver can be open.
        if ending.phase == .open {
            _ = inbox.close()
            driver.close {}
        }
    }

    /// Whether the loop is being shut down or has been shut down. Such a loop starts nothing new.
    package var isShutDown: Bool { ending.phase != .open }

    /// Monotonic time in nanoseconds, on the clock of the timers. Virtual on a virtual loop.
    ///
    /// Never goes back. The clocks of some virtual machines do, but all code that subtracts two readings
    /// relies on this.
    package var clock: UInt64 {
        let now = driver.now
        if now > latestNow { latestNow = now }
        return latestNow
    }
}

/// The numbers of objects that are alive on a loop.
struct LoopCounts {
    var cells = 0
    var promises = 0
    /// The number of the driver's handles that users hold, and the number of connections among them.
    var handles = 0
    var connections = 0
}

extension LoopCore {
    package var liveHandles: Int { counts.handles }

    package func count(handles change: Int) { counts.handles += change }
    package func count(connections change: Int) { counts.connections += change }

    // The loop retains itself while one of its cells is alive.

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
