/// A callback that took long: see ``EventLoop/onSlowCallback(longerThan:_:)``.
public struct SlowCallback: Hashable, Sendable {
    /// The time that the callback took.
    public let duration: Duration
    /// What ran: the name of a body, or of the method that the closure was given to.
    public let name: String
    /// The line of your source code that registered the closure, as file and line. `nil` in a release build, and for a
    /// body, whose name has it.
    public let place: String?
}

extension SlowCallback: CustomStringConvertible {
    /// The callback in one line.
    public var description: String { "\(name)\(place.map { " at \($0)" } ?? "") took \(duration)" }
}

/// A watch for slow callbacks of a loop, with the handler that is called for them.
struct SlowCallbackWatch {
    let threshold: UInt64
    let report: (SlowCallback) -> Void
    /// Whether each new callback makes the loop request a turn of the driver, so that the driver can find the
    /// code that made the callback.
    var revealsMakers = false
}

extension EventLoop {
    /// Calls `report` after each callback that took longer than `threshold`. If `report` is `nil`, these calls end.
    ///
    /// While one callback runs, all other callbacks of the loop wait. Use this function to find a callback
    /// that makes them wait for too long. Callbacks are the closures that futures, timers and `execute` run.
    /// With a `report`, the loop reads the clock once for each callback. A new loop has no `report`. Traps if `threshold`
    /// is negative.
    public func onSlowCallback(
        longerThan threshold: Duration = .milliseconds(100), _ report: ((SlowCallback) -> Void)?
    ) {
        core.checkThread()
        guard let threshold = threshold.wholeNanoseconds else {
            Misuse.sentence("\(FutureError.negativeDuration(threshold))")
        }
        guard !core.unhandled.isOver else { return }
        let watch = report.map { SlowCallbackWatch(threshold: threshold, report: $0) }
        withExtendedLifetime(exchange(&core.slowCallbacks, with: watch)) {}
    }

}

extension LoopCore {
    /// Runs what is ready, up to `budget`, and measures the time of each callback. Returns the rest of the
    /// budget.
    func drainWatching(budget: Int) -> Int {
        var budget = budget
        var started = clock
        let revealsMakers = slowCallbacks?.revealsMakers == true
        defer { if revealsMakers { turnState.isTurning = true } }
        while budget > 0 {
            if revealsMakers { (turnState.isTurning, turnState.isRequested) = (false, false) }
            let callback = ready.next?.object
            bodies.forgetLast()
            guard runNext() else { break }
            budget -= 1
            let ended = clock
            let duration = ended - started
            started = ended
            if let watch = slowCallbacks, duration > watch.threshold {
                watch.report(slowCallback(callback, .nanoseconds(duration)))
                started = clock
            }
        }
        return budget
    }

    private func slowCallback(_ cell: Cell?, _ duration: Duration) -> SlowCallback {
        if let body = bodies.lastName { return SlowCallback(duration: duration, name: body, place: nil) }
        let pointer = cell?.pointer
        let name = pointer?.verb ?? pointer?.producer?.nameInSnapshot ?? "a callback"
        return SlowCallback(duration: duration, name: name, place: cell?.place)
    }

    /// Makes the loop request a turn of the driver for each new callback, so that the driver can see which
    /// code makes callbacks. Call it only before a trap: it disturbs the order of the loop.
    package func revealMakers() {
        let watch = SlowCallbackWatch(threshold: .max, report: { _ in }, revealsMakers: true)
        withExtendedLifetime(exchange(&slowCallbacks, with: watch)) {}
    }

    /// Ends what `revealMakers` began, if the callbacks have come to an end after all. Also removes the
    /// handler for slow callbacks.
    package func hideMakers() { _ = slowCallbacks.take() }

    /// The number of callbacks that the loop has run from its ready queue.
    package var callbackCount: UInt64 { work.callbacks }
}
