/// A point in time on the clock of a loop's timers. This clock stops while the machine sleeps.
public struct LoopInstant: InstantProtocol {
    let nanoseconds: UInt64

    public static func < (a: LoopInstant, b: LoopInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant that is `duration` later than this instant. With a negative `duration`, returns an
    /// earlier instant. If the result would be outside the range of the clock, returns the first or the last
    /// instant of the range.
    public func advanced(by duration: Duration) -> LoopInstant {
        if let forward = duration.wholeNanoseconds {
            return LoopInstant(nanoseconds: nanoseconds.addingSaturated(forward))
        }
        let back = UInt64(clamping: duration.attoseconds.magnitude / 1_000_000_000)
        return LoopInstant(nanoseconds: nanoseconds > back ? nanoseconds - back : 0)
    }

    /// Returns the duration from this instant to `other`. The duration is negative if `other` is earlier.
    public func duration(to other: LoopInstant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }
}

extension EventLoop {
    /// The current time on the clock of the loop's timers. On a virtual loop, this is the virtual time. May
    /// be read on any thread.
    public var now: LoopInstant {
        LoopInstant(nanoseconds: core.isOnItsThread ? core.clock : core.driver.now)
    }

    /// Completes when `duration` has passed, and never earlier.
    ///
    /// If `duration` is zero, completes after the loop has looked for I/O once. Any other duration is rounded
    /// up to whole milliseconds, except on a virtual loop, which is a loop with simulated time for tests.
    ///
    /// Cancelling the returned future or `token` stops the timer. If `duration` is more than 584 years, the
    /// returned future never completes. Fails with ``FutureError/invalidArgument(_:)`` if `duration` is
    /// negative. With `keepsLoopAlive: false`, the timer does not keep ``run()`` from returning. Binds
    /// [`uv_timer_start`](https://docs.libuv.org/en/v1.x/timer.html). All timers of a loop share one timer of
    /// libuv.
    public func sleep(
        for duration: Duration, keepsLoopAlive: Bool = true, token: CancellationToken = .none
    ) -> Future<Void> {
        guard let nanoseconds = duration.wholeNanoseconds else {
            return failed(FutureError.negativeDuration(duration))
        }
        return withCore { $0.sleep(until: $0.deadline(after: nanoseconds), keepsLoopAlive: keepsLoopAlive) }
            .until(token)
    }

    /// Runs `body` on `context` when `delay` has passed. The delay is measured in the same way as in
    /// ``sleep(for:keepsLoopAlive:token:)``. The future of the returned task has the outcome of `body`.
    ///
    /// If you cancel the returned task or `token` before `body` runs, the timer stops, and `body` does not
    /// run. If `delay` is negative, `body` does not run, and the task fails with
    /// ``FutureError/invalidArgument(_:)``. With `keepsLoopAlive: false`, the timer does not keep ``run()``
    /// from returning.
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

    /// Runs `body` on `context` at `instant`. If `instant` has passed already, runs `body` in the next turn
    /// of the loop. The future of the returned task has the outcome of `body`.
    ///
    /// If you cancel the returned task or `token` before `body` runs, the timer stops, and `body` does not
    /// run. With `keepsLoopAlive: false`, the timer does not keep ``run()`` from returning.
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
    func schedule(_ cell: Cell, at instant: LoopInstant, keepsLoopAlive: Bool, on context: LocalContext) {
        guard !isShutDown else {
            cell.fail(FutureError.shutDown)
            return
        }
        cell.pointer.place(Cell.Interest.all.on(context))
        startTimer(cell, deadline: instant.nanoseconds, keepsAlive: keepsLoopAlive)
    }
}

/// Work that the loop does later: once, or again and again until you cancel it. Such a value is not a Swift
/// `Task`.
public struct ScheduledTask<Value> {
    /// The future of the work. For work that runs once, this future has the outcome of the closure. For a
    /// repetition, this future fails with the error of the run that ended the repetition. ``cancel()``
    /// cancels this future.
    public let future: Future<Value>

    @usableFromInline init(_ future: Future<Value>) { self.future = future }

    /// Ends the work at once, even if other code waits for ``future``, and releases the closure. If the
    /// closure has returned a future and that future is pending, that future is asked to cancel. Returns
    /// `false` if the work has already ended.
    @inlinable @discardableResult
    public func cancel() -> Bool { future.cell.requestCancellation(ignoringConsumers: true) }
}
