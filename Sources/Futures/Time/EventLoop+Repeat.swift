/// Says how a repetition measures its interval: from the end or from the start of the previous run.
public enum RepeatPace: Sendable {
    /// The interval is measured from the end of one run to the start of the next run.
    case fixedDelay
    /// The interval is measured from the start of one run to the start of the next run. If a run takes longer
    /// than the interval, the starts that fall due during that run are skipped. Starts that are missed because the loop
    /// was late are made up, for up to 100 ms. So the number of runs is right over a long time.
    case fixedRate
}

/// What happens to a repetition when its body throws, or when the future that its body returned fails.
public enum RepeatFailure: Sendable {
    /// The repetition ends, and the future of the repetition fails with the same error.
    case end
    /// The repetition continues.
    case `continue`
}

extension EventLoop {
    /// Runs `body` every `interval`. The first run starts after `initialDelay`, or after one `interval` if that is
    /// `nil`. `pace` says whether the interval is measured from the end or from the start of the previous run.
    ///
    /// With a `jitter`, each run starts later by a random time, at most this fraction of `interval`. So programs that
    /// began at the same time do not keep running at the same time. The random numbers come from ``random``. With a
    /// fixed rate, the delay of one run does not move the later runs.
    ///
    /// The repetition ends when the returned task or `token` is cancelled. If `body` throws, `onFailure` says
    /// whether the repetition ends or continues. With `keepsLoopAlive: false`, the repetition does not keep
    /// ``run()`` from returning. The returned task fails with ``FutureError/invalidArgument(_:)`` if
    /// `interval` is not positive, `initialDelay` is negative, or `jitter` is not from 0 to 1.
    @discardableResult
    public func `repeat`(
        every interval: Duration, after initialDelay: Duration? = nil, jitter: Double = 0,
        pace: RepeatPace = .fixedDelay, onFailure: RepeatFailure = .end, keepsLoopAlive: Bool = true,
        token: CancellationToken = .none, _ body: @escaping () throws -> Void
    ) -> ScheduledTask<Void> {
        `repeat`(
            every: interval, after: initialDelay, jitter: jitter, pace: pace, onFailure: onFailure,
            keepsLoopAlive: keepsLoopAlive, token: token
        ) {
            [unowned core] () throws -> Future<Void> in
            try body()
            return core.succeeded()
        }
    }

    /// Runs `body` every `interval`. The first run starts after `initialDelay`, or after one `interval` if that is
    /// `nil`. `pace` says whether the interval is measured from the end or from the start of the previous run.
    /// Runs never overlap: the next run waits until the future of the previous run has completed.
    ///
    /// With a `jitter`, each run starts later by a random time, at most this fraction of `interval`. With a fixed
    /// rate, the delay of one run does not move the later runs.
    ///
    /// The repetition ends when the returned task or `token` is cancelled. The future of the current run is
    /// then asked to cancel. If `body` throws, or the future that `body` returned fails or is cancelled,
    /// `onFailure` says whether the repetition ends or continues. With `keepsLoopAlive: false`, the waits
    /// between the runs do not keep ``run()`` from returning. The returned task fails with
    /// ``FutureError/invalidArgument(_:)`` if `interval` is not positive, `initialDelay` is negative, or `jitter` is
    /// not from 0 to 1.
    ///
    /// ```swift
    /// let heartbeat = loop.repeat(every: .seconds(30), jitter: 0.1, onFailure: .continue) { connection.write("ping\n") }
    /// connection.closed.whenComplete { _ in heartbeat.cancel() }
    /// ```
    @discardableResult
    public func `repeat`<Ignored>(
        every interval: Duration, after initialDelay: Duration? = nil, jitter: Double = 0,
        pace: RepeatPace = .fixedDelay, onFailure: RepeatFailure = .end, keepsLoopAlive: Bool = true,
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Ignored>
    ) -> ScheduledTask<Void> {
        guard let nanoseconds = interval.wholeNanoseconds, nanoseconds > 0 else {
            return ScheduledTask(failed(FutureError.unsuitableInterval(interval)))
        }
        guard let initialDelay = (initialDelay ?? interval).wholeNanoseconds else {
            return ScheduledTask(failed(FutureError.negativeDuration(initialDelay!)))
        }
        guard (0...1).contains(jitter) else {
            let complaint = "a jitter of \(jitter) is out of range; give 0 to 1"
            return ScheduledTask(failed(FutureError.invalidArgument(complaint)))
        }
        let cell = Cell.plain(core, state: .pending, of: Void.self)
        let values = core.carriedValues
        let plan = Repetition.Plan(
            interval: nanoseconds, initialDelay: initialDelay, jitter: jitter, pace: pace,
            onFailure: onFailure, keepsLoopAlive: keepsLoopAlive,
            body: values.isEmpty ? body : { try values.during(body) })
        Repetition(cell, plan).start()
        return ScheduledTask(Future(cell).until(token))
    }
}

extension FutureError {
    static func unsuitableInterval(_ interval: Duration) -> FutureError {
        .invalidArgument("an interval of \(interval) is not positive; give more than zero")
    }
}
