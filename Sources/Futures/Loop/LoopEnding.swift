/// The progress of the end of a loop.
struct LoopEnding {
    enum Phase { case open, shuttingDown, closed }

    var phase = Phase.open
    /// Whether the user's `EventLoop` has been released. The current run is then the last one.
    var hasLostOwner = false
    var detachment: Detachment?
    /// The time that the end waits before it reports what it waits for.
    var patience: Duration = .seconds(5)
    /// The time at which the wait for bodies counts as long. `.max` after the report. `nil` before the wait.
    var slowAt: UInt64?
}

// A property of the loop that other modules may change would be checked at run time at each access of each turn.
extension LoopCore {
    package var patienceAtEnd: Duration {
        get { ending.patience }
        set { ending.patience = newValue }
    }
}

/// The state of a call of `detach()` that has not ended.
struct Detachment {
    let outcome: Cell
    /// The number of callbacks that may still run.
    var allowance: Int
    /// Whether only the driver itself is left to close.
    var isClosing = false
}
