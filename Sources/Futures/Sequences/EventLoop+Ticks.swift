extension EventLoop {
    /// Returns a sequence of instants: the first one when `interval` has passed since the iteration began, and one
    /// more each time that a further `interval` has passed.
    ///
    /// A consumer that takes longer than `interval` misses the ticks that are due in that time, and gets the
    /// next tick on time. Ticks do not pile up, and do not drift. If `keepsLoopAlive` is `false`, waiting for
    /// a tick does not keep ``run()`` from returning, unless a task waits. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `interval` is not positive.
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
