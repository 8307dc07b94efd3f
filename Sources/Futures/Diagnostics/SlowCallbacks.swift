/// Which callbacks of a loop take too long, and who wants to hear of them.
struct SlowCallbackWatch {
    let threshold: UInt64
    let report: (Duration) -> Void
    /// Whether the driver is asked for a turn by each callback that is made, and so learns who does that.
    var revealsMakers = false
}

extension EventLoop {
    /// Calls `report`, with the time that it took, after each callback that took longer than `threshold` and so
    /// kept all others waiting; `nil` ends this. Used while looking for what blocks a loop.
    ///
    /// The clock is then read once for each callback; off, as it is at first, it costs nothing. A negative
    /// threshold counts as zero. Callbacks are what futures, timers and `execute` run.
    public func onSlowCallback(
        longerThan threshold: Duration = .milliseconds(100), _ report: ((Duration) -> Void)?
    ) {
        core.checkThread()
        guard !core.unhandled.isOver else { return }
        core.slowCallbacks = report.map {
            SlowCallbackWatch(threshold: threshold.wholeNanoseconds ?? 0, report: $0)
        }
    }

}

extension LoopCore {
    /// Runs what is ready, up to `budget`, with an eye on the clock. Returns what is left of the budget.
    func drainWatching(budget: Int) -> Int {
        var budget = budget
        var started = clock
        let revealsMakers = slowCallbacks?.revealsMakers == true
        defer { if revealsMakers { isTurning = true } }
        while budget > 0 {
            if revealsMakers { (isTurning, isTurnRequested) = (false, false) }
            guard runNext() else { break }
            budget -= 1
            let ended = clock
            if let watch = slowCallbacks, ended - started > watch.threshold {
                watch.report(.nanoseconds(ended - started))
                started = clock
            } else {
                started = ended
            }
        }
        return budget
    }

    /// Has the driver asked for a turn whenever a callback makes another one, by which it can see where that is. Of use
    /// before a trap only: the loop is upset by it.
    package func revealMakers() {
        slowCallbacks = SlowCallbackWatch(threshold: .max, report: { _ in }, revealsMakers: true)
    }

    /// The callbacks have ended after all. A watch for slow ones is not there any more.
    package func hideMakers() { slowCallbacks = nil }

    /// How many callbacks the loop has run from its ready queue.
    package var callbackCount: UInt64 { work.callbacks }
}
