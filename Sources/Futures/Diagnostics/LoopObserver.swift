/// An event on a loop, for counting and logging. The loop reports its events to the observers that you add
/// with ``EventLoop/observe(token:_:)``.
public enum LoopEvent {
    /// A turn of the loop has ended. A turn is one event, such as a timer or bytes from a peer, and the
    /// callbacks that become ready through that event. `duration` is the time that the turn took. `callbacks`
    /// is the number of callbacks that the turn ran from the ready queue. `lag` is the time by which the most
    /// recent timers fired too late.
    case turnEnded(duration: Duration, callbacks: Int, lag: Duration)
    /// A connection, another kind of stream, a listening socket, a datagram socket, a file or a watch of files has been
    /// opened, or a child process has been started. The associated value describes the object in one line.
    case opened(any CustomStringConvertible)
    /// A connection, another kind of stream, a listening socket, a datagram socket, a file or a watch of files has been
    /// closed, or a child process has ended. The first associated value describes the object in one line. `failure` is
    /// the error that ended the object, or `nil` if it was closed without an error.
    case closed(any CustomStringConvertible, failure: (any Error)?)
    /// A warning, as one line of text. The loop continues. There are seven kinds: a turn took more than 100 ms, a server
    /// has reached its highest number of connections, a connection could not be accepted for lack of descriptors or
    /// memory, a report to the watchdog of systemd could not be sent, a name server gave no answer, a watch of files
    /// reported `lookAgain` instead of single changes, or a ``FutureScope`` is cancelled because its members have not
    /// drained in time. Each server, and each other source of warnings, gives at most one warning of a kind per minute.
    case warning(String)
    /// A future has failed, and no code has handled the failure. ``EventLoop/onUnhandledFailure`` gets the
    /// same error.
    case unhandledFailure(any Error)
}

extension EventLoop {
    /// Calls `observer` with each event of the loop, for counting and logging, until `token` is cancelled.
    ///
    /// A loop may have several observers, and calls them in the order in which they were added. The loop releases all
    /// observers when the loop has been shut down or detached. The loop calls the observers within the turn in which
    /// the event happens. Therefore an observer should be quick, and should not complete futures. With an observer,
    /// each turn reads the clock twice. Without an observer, the loop makes no events.
    ///
    /// ```swift
    /// loop.observe { event in
    ///     if case .warning(let text) = event { print("warning: \(text)") }
    /// }
    /// ```
    public func observe(token: CancellationToken = .none, _ observer: @escaping (LoopEvent) -> Void) {
        core.checkThread()
        guard !token.isCancelled(on: core), !core.unhandled.isOver else { return }
        core.turnState.started = core.clock
        let observer = LoopObserver(core.carrying(observer))
        core.observers.append(observer)
        token.onCancel(on: .immediate) { withExtendedLifetime(observer.end()) {} }
    }
}

/// An observer of a loop, until its token is cancelled or the loop ends.
final class LoopObserver {
    private(set) var closure: ((LoopEvent) -> Void)?

    init(_ closure: @escaping (LoopEvent) -> Void) { self.closure = closure }

    /// Returns the closure, which the caller releases.
    func end() -> ((LoopEvent) -> Void)? { closure.take() }
}

extension LoopCore {
    package func tell(_ event: LoopEvent) {
        for observer in observers { observer.closure?(event) }
        if observers.contains(where: { $0.closure == nil }) { observers.removeAll { $0.closure == nil } }
    }

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
