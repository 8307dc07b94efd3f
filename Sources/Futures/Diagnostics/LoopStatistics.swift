/// A snapshot of what is alive on a loop, and of how much it has done.
public struct LoopStatistics: Hashable, Sendable {
    /// The number of futures that somebody holds or something will complete, with observers and awaiting tasks.
    public var futures = 0
    public var promises = 0
    /// The number of timers that have not fired. The time limits of streams do not count.
    public var timers = 0
    /// The number of handles open for users: listeners, connections, signals.
    public var handles = 0
    /// The number of connections among the handles.
    public var connections = 0
    /// The number of callbacks that wait in the ready queue. Counting them takes the longer the more there are.
    public var readyCallbacks = 0
    /// How often the loop has drained its ready queue.
    public var turns: UInt64 = 0
    /// How many callbacks its turns have run from there, and the most that one turn has run.
    public var callbacks: UInt64 = 0
    public var longestTurn = 0
    /// How often other threads have woken the loop: once for each burst of jobs.
    public var wakeUps: UInt64 = 0
    /// How late the last timers fired, and the latest of all: how long callbacks, or the machine, have kept the loop
    /// from its timers. A real loop rounds up to milliseconds, and so is late by one at times.
    public var lag: Duration = .zero
    public var longestLag: Duration = .zero
}

extension EventLoop {
    /// A snapshot of what is alive, and of what has been done. What is alive is back at zero when all work is done.
    public var statistics: LoopStatistics {
        core.checkThread()
        return core.snapshot
    }
}

extension LoopCore {
    fileprivate var snapshot: LoopStatistics {
        LoopStatistics(
            futures: counts.cells - (completedVoid == nil ? 0 : 1) - coarse.count, promises: counts.promises,
            timers: timers.count - coarse.count, handles: liveHandles, connections: liveConnections,
            readyCallbacks: ready.count, turns: turnState.count, callbacks: work.callbacks,
            longestTurn: work.longestTurn,
            wakeUps: inbox.wakeUps, lag: .nanoseconds(work.lag), longestLag: .nanoseconds(work.longestLag))
    }
}

/// What a loop counts about its turns.
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
