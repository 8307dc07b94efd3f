/// What a loop tells its observer.
public enum LoopEvent {
    /// A turn has ended: one event and what became ready by it. How long that took, how many callbacks it ran from
    /// the ready queue, and how late the timers were that fired last.
    case turnEnded(duration: Duration, callbacks: Int, lag: Duration)
    /// A connection, or another stream, or a socket that listens has been opened. Its description is one line.
    case opened(any CustomStringConvertible)
    /// It has been closed, or has broken by `failure`.
    case closed(any CustomStringConvertible, failure: (any Error)?)
    /// Something is not as it should be, and goes on; in one line. One a minute at most of each kind and source: a
    /// turn has taken more than 100 ms, a server has as many connections as it may, there are no descriptors or
    /// no memory for a connection, or the watchdog of systemd could not be fed.
    case warning(String)
    /// A future has failed, and nobody will hear of it: what `onUnhandledFailure` gets as well.
    case unhandledFailure(any Error)
}

extension EventLoop {
    /// Has `observer` called with what happens on the loop, to be counted and logged; `nil` ends this.
    ///
    /// There is one; another takes its place. It is released when the loop has been shut down or detached. It is
    /// called within the turn in which something happens, so it should be quick and complete nothing. Each turn then
    /// reads the clock twice; without an observer, which is how a loop begins, all this costs nothing.
    public func observe(_ observer: ((LoopEvent) -> Void)?) {
        core.checkThread()
        guard !core.unhandled.isOver else { return }
        core.observer = observer
        core.turnStarted = core.clock
    }
}

extension LoopCore {
    /// Whether anybody wants to hear of events: else they need not be made.
    package var isObserved: Bool { observer != nil }

    package func tell(_ event: LoopEvent) { observer?(event) }

    func observeTurn(callbacks: Int) {
        let now = clock
        let duration = now > turnStarted ? now - turnStarted : 0
        tell(.turnEnded(duration: .nanoseconds(duration), callbacks: callbacks, lag: .nanoseconds(work.lag)))
        guard duration > Self.slowTurn, slowTurns.admits(at: now) else { return }
        tell(
            .warning(
                "a turn took \(Duration.nanoseconds(duration)), and everything else waited; onSlowCallback says how long "
                    + "each of its \(callbacks) callbacks takes"))
    }

    private static let slowTurn: UInt64 = 100_000_000
}

/// Lets one report of a kind through in a minute, however often there is something to report.
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
