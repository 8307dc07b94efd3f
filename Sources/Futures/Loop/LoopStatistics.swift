/// What is alive on a loop, and how much it has done: a snapshot.
public struct LoopStatistics: Hashable, Sendable {
    /// Futures that somebody holds or something will complete, observers and tasks that await included.
    public var futures = 0
    public var promises = 0
    /// Timers that have not fired.
    public var timers = 0
    /// Handles open for users: listeners, connections, signals.
    public var handles = 0
    /// Connections among the handles.
    public var connections = 0
    /// How often the loop has drained its ready queue.
    public var turns: UInt64 = 0
}

extension EventLoop {
    /// A snapshot of what is alive. Everything but `turns` is back at zero when all work is done.
    public var statistics: LoopStatistics {
        checkThread()
        return LoopStatistics(
            futures: liveCells - (completedVoid == nil ? 0 : 1), promises: livePromises, timers: timers.count,
            handles: liveHandles, connections: liveConnections, turns: turns)
    }
}
