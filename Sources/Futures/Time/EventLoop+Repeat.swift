/// The point from which a repetition counts its interval.
public enum RepeatPace: Sendable {
    /// From the end of one run to the start of the next.
    case fixedDelay
    /// From the start of one run to the start of the next. If a run takes longer than the interval, the
    /// starts that are due meanwhile are left out.
    case fixedRate
}

/// The effect on a repetition when its body throws, or when the future that its body returned fails.
public enum RepeatFailure: Sendable {
    /// The repetition ends, and the future of the repetition fails with that error.
    case end
    /// The repetition goes on.
    case `continue`
}

extension EventLoop {
    /// Runs `body` every `interval`. The first run starts after one `interval`. Ends when the returned task
    /// or `token` is cancelled. Also ends when `body` throws, unless `onFailure` is `.continue`.
    ///
    /// The returned task fails with ``FutureError/invalidArgument(_:)`` if `interval` is not positive.
    @discardableResult
    public func `repeat`(
        every interval: Duration, pace: RepeatPace = .fixedDelay, onFailure: RepeatFailure = .end,
        keepsLoopAlive: Bool = true, token: CancellationToken = .none, _ body: @escaping () throws -> Void
    ) -> ScheduledTask<Void> {
        `repeat`(
            every: interval, pace: pace, onFailure: onFailure, keepsLoopAlive: keepsLoopAlive, token: token
        ) {
            [unowned core] () throws -> Future<Void> in
            try body()
            return core.succeeded()
        }
    }

    /// Runs `body` every `interval`. The first run starts after one `interval`. Ends when the returned task
    /// or `token` is cancelled. Also ends when `body` throws, or the future that `body` returned fails or is
    /// cancelled, unless `onFailure` is `.continue`.
    ///
    /// Runs never overlap: the next run waits until the future of the run before has completed. Cancelling the returned
    /// task or `token` asks the future of the current run to cancel. The returned task fails with
    /// ``FutureError/invalidArgument(_:)`` if `interval` is not positive.
    ///
    /// ```swift
    /// let heartbeat = loop.repeat(every: .seconds(30), onFailure: .continue) { connection.write("ping\n") }
    /// connection.closed.whenComplete { _ in heartbeat.cancel() }
    /// ```
    @discardableResult
    public func `repeat`<Ignored>(
        every interval: Duration, pace: RepeatPace = .fixedDelay, onFailure: RepeatFailure = .end,
        keepsLoopAlive: Bool = true, token: CancellationToken = .none,
        _ body: @escaping () throws -> Future<Ignored>
    ) -> ScheduledTask<Void> {
        let cell = Cell.plain(core, state: .pending, of: Void.self)
        let future = Future<Void>(cell)
        guard let nanoseconds = interval.wholeNanoseconds, nanoseconds > 0 else {
            cell.fail(FutureError.unsuitableInterval(interval))
            return ScheduledTask(future)
        }
        let plan = Repetition.Plan(
            interval: nanoseconds, pace: pace, onFailure: onFailure, keepsLoopAlive: keepsLoopAlive,
            body: body)
        Repetition(cell, plan).start()
        return ScheduledTask(future.until(token))
    }
}

extension FutureError {
    static func unsuitableInterval(_ interval: Duration) -> FutureError {
        .invalidArgument("an interval of \(interval) is not positive; give more than zero")
    }
}
