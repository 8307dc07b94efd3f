/// A point in time on the clock of one loop's timers, which stands still while the machine sleeps.
public struct LoopInstant: Hashable, Comparable, Sendable {
    let nanoseconds: UInt64

    public static func < (a: LoopInstant, b: LoopInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant `duration` after this one. Saturates at both ends.
    public func advanced(by duration: Duration) -> LoopInstant {
        if let forward = duration.wholeNanoseconds {
            return LoopInstant(nanoseconds: nanoseconds.addingSaturated(forward))
        }
        let back = UInt64(clamping: duration.attoseconds.magnitude / 1_000_000_000)
        return LoopInstant(nanoseconds: nanoseconds > back ? nanoseconds - back : 0)
    }

    /// Returns the duration from this instant to `other`, negative if `other` is before.
    public func duration(to other: LoopInstant) -> Duration {
        other >= self
            ? .nanoseconds(other.nanoseconds - nanoseconds)
            : Duration.zero - .nanoseconds(nanoseconds - other.nanoseconds)
    }
}

extension EventLoop {
    /// The current time, as the timers see it. Virtual on a virtual loop. Any thread.
    public var now: LoopInstant {
        LoopInstant(nanoseconds: core.isOnItsThread ? core.clock : core.driver.now)
    }

    /// Completes when `duration` has passed, never earlier.
    ///
    /// A duration of zero is over in the loop's next turn, after it has looked for I/O once, on every kind of loop. A
    /// real loop rounds up longer ones to whole milliseconds.
    ///
    /// Cancelling the future, or `token`, stops the timer. Durations beyond 584 years last for ever. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `duration` is negative. A timer with `keepsLoopAlive: false` does not
    /// prevent ``run()`` from returning.
    /// Binds [`uv_timer_start`](https://docs.libuv.org/en/v1.x/timer.html), one for all timers of a loop.
    public func sleep(
        for duration: Duration, keepsLoopAlive: Bool = true, token: CancellationToken = .none
    ) -> Future<Void> {
        guard let nanoseconds = duration.wholeNanoseconds else {
            return failed(FutureError.negativeDuration(duration))
        }
        return withCore { $0.sleep(until: $0.deadline(after: nanoseconds), keepsLoopAlive: keepsLoopAlive) }
            .until(token)
    }

    /// Runs `body` on `context` when `delay` has passed, as ``sleep(for:keepsLoopAlive:token:)`` counts it.
    ///
    /// Cancelling the task, or `token`, stops the timer.
    @inlinable @discardableResult
    public func schedule<Value>(
        after delay: Duration, keepsLoopAlive: Bool = true, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping () throws -> Value
    ) -> ScheduledTask<Value> {
        withCore { core in
            core.checkThread()
            let cell = Cell.waiting(core, step: SubmitStep(body: body))
            core.schedule(cell, after: delay, keepsLoopAlive: keepsLoopAlive, on: context)
            return ScheduledTask(Future<Value>(cell).ending(with: token))
        }
    }

    /// Runs `body` on `context` at `instant`, or in the loop's next turn if that has passed.
    ///
    /// Cancelling the task, or `token`, stops the timer.
    @inlinable @discardableResult
    public func schedule<Value>(
        at instant: LoopInstant, keepsLoopAlive: Bool = true, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping () throws -> Value
    ) -> ScheduledTask<Value> {
        withCore { core in
            core.checkThread()
            let cell = Cell.waiting(core, step: SubmitStep(body: body))
            core.schedule(cell, at: instant, keepsLoopAlive: keepsLoopAlive, on: context)
            return ScheduledTask(Future<Value>(cell).ending(with: token))
        }
    }

}

extension LoopCore {
    @usableFromInline
    func schedule(_ cell: Cell, after delay: Duration, keepsLoopAlive: Bool, on context: LocalContext) {
        guard let nanoseconds = delay.wholeNanoseconds else {
            cell.fail(FutureError.negativeDuration(delay))
            return
        }
        let instant = LoopInstant(nanoseconds: deadline(after: nanoseconds))
        schedule(cell, at: instant, keepsLoopAlive: keepsLoopAlive, on: context)
    }

    /// Runs the step of `cell` at `instant`.
    @usableFromInline
    func schedule(
        _ cell: Cell, at instant: LoopInstant, keepsLoopAlive: Bool, on context: LocalContext
    ) {
        guard !isShutDown else {
            cell.fail(FutureError.shutDown)
            return
        }
        cell.pointer.place(Cell.Interest.all.on(context))
        startTimer(cell, deadline: instant.nanoseconds, keepsAlive: keepsLoopAlive)
    }
}

/// Work that the loop does later, once or again and again, until it is cancelled.
public struct ScheduledTask<Value> {
    /// The outcome of the body, or, for a repetition, of the run that ended it. Cancelled by ``cancel()``.
    public let future: Future<Value>

    @usableFromInline
    init(_ future: Future<Value>) { self.future = future }

    /// Ends the task at once, even if others wait for its future, and releases its body. Returns `false` if it has
    /// ended before. A pending future that the body returned is asked to cancel.
    @inlinable @discardableResult
    public func cancel() -> Bool { future.cell.requestCancellation(ignoringConsumers: true) }
}
