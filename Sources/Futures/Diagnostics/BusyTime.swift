extension EventLoop {
    /// Begins to measure for how long the loop is busy: ``LoopStatistics/busy`` and ``LoopStatistics/idle``. A second
    /// call changes nothing.
    ///
    /// The loop is idle while it waits for events, and while nobody runs it. Otherwise it is busy, even if the system
    /// runs another process in that time. On a loop that is attached to the event loop of a host, only the loop's turns
    /// count as busy, and the host's own work does not. On a virtual loop, callbacks take no time, so only a callback
    /// that moves the clock is busy.
    ///
    /// A loop that measures looks for events once more before each wait. This is a system call, and so the loop does it
    /// only if you ask.
    ///
    /// ```swift
    /// loop.measureBusyTime()
    /// let before = loop.statistics
    /// loop.schedule(after: .seconds(10)) {
    ///     print("busy for \(Int(loop.statistics.busyShare(since: before) * 100)) % of the time")
    /// }
    /// ```
    public func measureBusyTime() {
        core.checkThread()
        guard core.busyTime == nil else { return }
        core.busyTime = BusyTime(from: core.clock)
        if core.isAtWork { core.workBegins() }
    }
}

extension LoopStatistics {
    /// Returns the share of the time from `earlier` to these statistics for which the loop was busy, from 0 to 1.
    /// Returns 0 if no time has passed, or if the loop has not measured it.
    public func busyShare(since earlier: LoopStatistics) -> Double {
        let (busy, idle) = (busy - earlier.busy, idle - earlier.idle)
        return busy > .zero ? busy / (busy + idle) : 0
    }
}

/// The time for which a loop has been busy. While a loop is at work, it is busy whenever its driver does not wait.
final class BusyTime {
    /// When the loop began to measure.
    private let start: UInt64
    /// The busy time up to the beginning of the work that goes on.
    private var past: UInt64 = 0
    /// The time at which the work that goes on began, on a clock that stands still while the driver waits.
    private var workBegan: UInt64?

    init(from start: UInt64) { self.start = start }

    func workBegins(at time: UInt64) { workBegan = time }

    func workEnds(at time: UInt64) {
        past = busy(at: time)
        workBegan = nil
    }

    /// Returns the busy time. `time` is on the clock that stands still while the driver waits.
    func busy(at time: UInt64) -> UInt64 {
        guard let workBegan, time > workBegan else { return past }
        return past + (time - workBegan)
    }

    func idle(at now: UInt64, busy: UInt64) -> UInt64 { now > start + busy ? now - start - busy : 0 }
}

extension LoopCore {
    /// Notes that somebody begins to run the loop or, if a host runs the loop, that a turn begins.
    @inline(__always)
    func workBegins() {
        busyTime?.workBegins(at: workClock)
        blockedWatch?.workBegins()
    }

    @inline(__always)
    func workEnds() {
        busyTime?.workEnds(at: workClock)
        blockedWatch?.workEnds()
    }

    /// Whether somebody runs the loop or, if a host runs the loop, whether a turn runs.
    var isAtWork: Bool { isAttached ? turnState.isTurning : turnState.isRunning }

    /// The busy time and the idle time in nanoseconds. Both are zero if the loop does not measure them.
    var measuredTime: (busy: UInt64, idle: UInt64) {
        guard let busyTime else { return (0, 0) }
        // One reading of the clock for both, so that idle time does not go back.
        let now = clock
        let busy = busyTime.busy(at: now &- driver.measuredIdleTime())
        return (busy, busyTime.idle(at: now, busy: busy))
    }

    /// A clock that stands still while the driver waits.
    private var workClock: UInt64 { clock &- driver.measuredIdleTime() }
}
