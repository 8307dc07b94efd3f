/// What a loop tells its observer.
public enum LoopEvent {
    /// A turn has ended: one event and what became ready by it. Says how long it took, how many callbacks it ran from
    /// the ready queue, and how late the last timers fired.
    case turnEnded(duration: Duration, callbacks: Int, lag: Duration)
    /// A connection or another stream has been opened, or a socket that listens. Its description is one line.
    case opened(any CustomStringConvertible)
    /// A connection, stream or socket has been closed, or has broken by `failure`.
    case closed(any CustomStringConvertible, failure: (any Error)?)
    /// Something is wrong, and goes on. In one line, and at most once a minute for each kind and source: a turn has
    /// taken more than 100 ms, a server has as many connections as it may, there are no descriptors or no memory for
    /// a connection, or the watchdog of systemd could not be fed.
    case warning(String)
    /// A future has failed, and nothing will see it: `onUnhandledFailure` gets the same error.
    case unhandledFailure(any Error)
}

extension EventLoop {
    /// Calls `observer` with what happens on the loop, for counting and logging. `nil` ends this.
    ///
    /// A loop has one observer; another takes its place. It is released when the loop has been shut down or detached.
    /// It is called within the turn in which something happens, so it should be quick and complete nothing. Each turn
    /// then reads the clock twice. Without an observer, which is how a loop begins, all this costs nothing.
    ///
    /// ```swift
    /// loop.observe { event in
    ///     if case .warning(let text) = event { print("warning: \(text)") }
    /// }
    /// ```
    public func observe(_ observer: ((LoopEvent) -> Void)?) {
        core.checkThread()
        guard !core.unhandled.isOver else { return }
        core.observer = observer
        core.turnState.started = core.clock
    }
}

extension LoopCore {
    /// Whether there is an observer: without one events need not be made.
    package var isObserved: Bool { observer != nil }

    package func tell(_ event: LoopEvent) { observer?(event) }

    func observeTurn(callbacks: Int) {
        let now = clock
        let duration = now > turnState.started ? now - turnState.started : 0
        tell(.turnEnded(duration: .nanoseconds(duration), callbacks: callbacks, lag: .nanoseconds(work.lag)))
        guard duration > Self.slowTurn, slowTurns.admits(at: now) else { return }
        tell(
            .warning(
                "a turn took \(Duration.nanoseconds(duration)), and everything else waited; onSlowCallback says how long "
                    + "each of its \(callbacks) callbacks takes"))
    }

    private static let slowTurn: UInt64 = 100_000_000
}

/// Lets one report of a kind through in a minute, no matter how often there is something to report.
package struct ReportLimit {
    private static let interval: UInt64 = 60_000_000_000
    private var lastReport: UInt64?

    package init() {}

    package mutating func admits(at now: UInt64) -> Bool {
        if let lastReport, now - lastReport < Self.interval { return false }
        lastReport = now
        return true
    }
}
