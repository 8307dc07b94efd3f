extension EventLoop {
    /// Returns a sequence of instants. The first instant comes when `interval` has passed since the iteration
    /// began. After that, one instant comes after each further `interval`.
    ///
    /// A consumer that takes longer than `interval` misses the instants that fall due in that time, and gets
    /// the next instant on time. A delay of one instant does not delay the instants after it. If
    /// `interval` is not positive, the iteration throws ``FutureError/invalidArgument(_:)``.
    ///
    /// A task that waits for an instant keeps ``run()`` from returning. If `keepsLoopAlive` is `false`, other
    /// code that waits, such as ``LoopSequence/first()``, does not.
    ///
    /// ```swift
    /// for try await _ in loop.ticks(every: .seconds(60)) { print(loop.statistics) }
    /// ```
    public func ticks(every interval: Duration, keepsLoopAlive: Bool = true) -> LoopSequence<LoopInstant> {
        LoopSequence(on: self) { [core] in
            guard let nanoseconds = interval.wholeNanoseconds, nanoseconds > 0 else {
                return .init { core.failed(FutureError.unsuitableInterval(interval)) }
            }
            var due = core.deadline(after: nanoseconds)
            return LoopSequence.AsyncIterator(next: {
                let now = core.clock
                if due < now {
                    let missed = (now - due - 1) / nanoseconds + 1
                    due = due.addingSaturated(missed.multipliedSaturated(by: nanoseconds))
                }
                return core.sleep(until: due, keepsLoopAlive: keepsLoopAlive).map {
                    due = due.addingSaturated(nanoseconds)
                    return core.now
                }
            })
        }
    }
}
