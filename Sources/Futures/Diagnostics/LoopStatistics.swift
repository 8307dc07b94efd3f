/// A snapshot of the objects that are alive on a loop, and of the work that the loop has done.
public struct LoopStatistics: Hashable, Sendable {
    /// The number of futures that somebody holds or that something will complete. Counts observers and
    /// awaiting tasks too.
    public var futures = 0
    public var promises = 0
    /// The number of timers that have not fired. The time limits of streams do not count.
    public var timers = 0
    /// The number of open handles that belong to users: listeners, connections, signals.
    public var handles = 0
    /// The number of connections among the handles.
    public var connections = 0
    /// The number of callbacks that wait in the ready queue. The time to count them grows with their number.
    public var readyCallbacks = 0
    /// How often the loop has drained its ready queue.
    public var turns: UInt64 = 0
    /// The number of callbacks that all turns together have run from the ready queue. ``longestTurn`` is the
    /// highest number that one turn has run.
    public var callbacks: UInt64 = 0
    public var longestTurn = 0
    /// The number of times that other threads have woken the loop. A burst of jobs counts once.
    public var wakeUps: UInt64 = 0
    /// The delay of the timers that fired last. ``longestLag`` is the longest delay so far. Timers are late
    /// when callbacks, or the machine, keep the loop busy. Since a real loop rounds up to milliseconds, its
    /// timers may be late by up to one millisecond even if nothing keeps the loop busy.
    public var lag: Duration = .zero
    public var longestLag: Duration = .zero
}

extension EventLoop {
    /// A snapshot of the objects that are alive, and of the work that the loop has done. When all work is
    /// done, the numbers of living objects are zero again.
    public var statistics: LoopStatistics {
        core.checkThread()
        return core.snapshot
    }
}

extension LoopCore {
    fileprivate var snapshot: LoopStatistics {
        LoopStatistics(
            futures: counts.cells - (completedVoid == nil ? 0 : 1) - coarse.count, promises: counts.promises,
            timers: timers.count - coarse.count, handles: liveHandles, connections: counts.connections,
            readyCallbacks: ready.count, turns: turnState.count, callbacks: work.callbacks,
            longestTurn: work.longestTurn,
            wakeUps: inbox.wakeUps, lag: .nanoseconds(work.lag), longestLag: .nanoseconds(work.longestLag))
    }
}

/// The callbacks and the timer delays that a loop has counted so far.
struct LoopWork {
    fileprivate(set) var callbacks: UInt64 = 0
    fileprivate(set) var longestTurn = 0
    fileprivate(set) var lag: UInt64 = 0
    fileprivate(set) var longestLag: UInt64 = 0

    mutating func turnEnded(callbacks: Int) {
        self.callbacks &+= UInt64(callbacks)
        if callbacks > longestTurn { longestTurn = callbacks }
    }

    mutating func timersFired(late: UInt64) {
        lag = late
        if late > longestLag { longestLag = late }
    }
}
