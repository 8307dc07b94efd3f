/// A snapshot of the objects that are alive on a loop, and of the work that the loop has done.
public struct LoopStatistics: Hashable, Sendable {
    /// The number of futures that are alive. A future is alive while code holds it or is going to complete
    /// it. Observers and awaiting tasks count as futures, too.
    public var futures: Int
    public var promises: Int
    /// The number of timers that have not fired. Timers for the time limits of streams do not count.
    public var timers: Int
    /// The number of open handles that your code has opened: listeners, connections, datagram
    /// sockets, signals and child processes.
    public var handles: Int
    /// The number of open connections. The value ``handles`` includes them.
    public var connections: Int
    /// The number of open files and directories.
    public var files: Int
    /// The number of operations with files that wait for a thread, or run on one. An operation that was cancelled while it
    /// ran counts until it ends.
    public var fileOperations: Int
    /// The number of open watches of files. A watch that is still being set up does not count.
    public var fileWatches: Int
    /// The numbers of file changes so far, in all watches together. `toldFileChanges` were delivered.
    /// `mergedFileChanges` were merged into another change, or undone by it. `fileWatchOverflows` is how often a watch
    /// reported `lookAgain` instead of single changes.
    public var toldFileChanges: UInt64
    public var mergedFileChanges: UInt64
    public var fileWatchOverflows: UInt64
    /// The number of callbacks that wait in the ready queue. The time to count them grows with their number.
    public var readyCallbacks: Int
    /// The number of turns so far. A turn is one event, such as a timer or bytes from a peer. At the end of
    /// the turn, the loop runs the callbacks of the ready queue.
    public var turns: UInt64
    /// The number of callbacks that all turns together have run from the ready queue. ``longestTurn`` is the
    /// highest number of callbacks in one turn.
    public var callbacks: UInt64
    public var longestTurn: Int
    /// The number of times that other threads have woken the loop. If other threads send several jobs before
    /// the loop takes the first of them, the loop is woken only once.
    public var wakeUps: UInt64
    /// The time by which the most recent timers fired too late. ``longestLag`` is the highest value so far.
    /// Timers are late when callbacks, or the machine, keep the loop busy. A real loop rounds times up to
    /// milliseconds, so its timers may be late by up to one millisecond even if nothing keeps the loop busy.
    public var lag: Duration
    public var longestLag: Duration
    /// The times for which the loop was busy, and for which it was idle, since ``EventLoop/measureBusyTime()`` was
    /// called. Both are zero if it was not called. For the share of a shorter time, see ``busyShare(since:)``.
    public var busy: Duration
    public var idle: Duration
}

extension EventLoop {
    /// A snapshot of the objects that are alive on the loop, and of the work that the loop has done. When all
    /// work is done, the numbers of living objects are zero again.
    public var statistics: LoopStatistics { core.snapshot }
}

extension LoopCore {
    fileprivate var snapshot: LoopStatistics {
        checkThread()
        let time = measuredTime
        return LoopStatistics(
            futures: counts.cells - (completedVoid == nil ? 0 : 1) - coarse.count, promises: counts.promises,
            timers: timers.count - coarse.count, handles: liveHandles, connections: counts.connections,
            files: files.lines.count, fileOperations: files.operations.value,
            fileWatches: watches.lines.count, toldFileChanges: watches.counts.told,
            mergedFileChanges: watches.counts.merged, fileWatchOverflows: watches.counts.overflows,
            readyCallbacks: ready.count,
            turns: turnState.count, callbacks: work.callbacks,
            longestTurn: work.longestTurn,
            wakeUps: inbox.wakeUps, lag: .nanoseconds(work.lag), longestLag: .nanoseconds(work.longestLag),
            busy: .nanoseconds(time.busy), idle: .nanoseconds(time.idle))
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
