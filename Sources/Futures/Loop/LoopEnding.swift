/// How far the end of a loop has come.
struct LoopEnding {
    enum Phase { case open, shuttingDown, closed }

    var phase = Phase.open
    /// Whether the user's `EventLoop` has been released, so that the current run is the last.
    var hasLostOwner = false
    var detachment: Detachment?
    /// How long the end waits before it reports what it waits for.
    var patience: Duration = .seconds(5)
    /// When the wait for bodies counts as long. `.max` once that has been reported.
    var slowAt: UInt64?
}

extension LoopCore {
    package var patienceAtEnd: Duration {
        get { ending.patience }
        set { ending.patience = newValue }
    }
}

/// The end of an attached loop, in progress.
struct Detachment {
    let outcome: Cell
    /// How many callbacks may still run.
    var allowance: Int
    /// Whether nothing is left but the driver itself.
    var isClosing = false
}
