/// An event on a loop, as reported to the loop's observer (see ``EventLoop/observe(_:)``).
public enum LoopEvent {
    /// A turn has ended. A turn is one event, and the callbacks that became ready through that event.
    /// `duration` is the time that the turn took. `callbacks` is the number of callbacks that the turn ran
    /// from the ready queue. `lag` is the delay of the timers that fired last.
    case turnEnded(duration: Duration, callbacks: Int, lag: Duration)
    /// A connection, some other kind of stream, or a listening socket has been opened. Its description is one line.
    case opened(any CustomStringConvertible)
    /// A connection, some other kind of stream, or a listening socket has been closed. `failure` is the error that
    /// broke it, or `nil` if no error did.
    case closed(any CustomStringConvertible, failure: (any Error)?)
    /// Something is wrong, but the loop goes on. The text is one line. There is at most one warning a minute
    /// for each kind of warning and each source. The kinds are: a turn has taken more than 100 ms, a server
    /// has as many connections as it may have, a connection lacks a descriptor or memory, or the watchdog of
    /// systemd could not be fed.
    case warning(String)
    /// A future has failed, and nothing will see the failure. `onUnhandledFailure` is called with the same error.
    case unhandledFailure(any Error)
}

extension EventLoop {
    /// Calls `observer` with each event of the loop, for counting and logging. `nil` removes the observer.
    ///
    /// A loop has one observer: a new observer replaces the old one. The loop releases the observer when the
    /// loop has been shut down or detached. The loop calls the observer within the turn in which the event
    /// happens. So the observer should be quick, and should not complete futures. With an observer, each turn
    /// reads the clock twice. Without an observer, events cost nothing. A new loop has no observer.
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
    /// Whether there is an observer. If there is none, nobody needs to make events.
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

/// A limit that lets one report a minute through.
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
