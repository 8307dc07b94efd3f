extension EventLoop {
    /// Returns a sequence of instants, one in every `interval`. The first instant comes when `interval` has
    /// passed since the iteration began.
    ///
    /// If a consumer takes longer than `interval`, it misses the instants that fall due in that time, and
    /// gets the next instant on time. If one instant comes late, the later instants are not delayed. If
    /// `interval` is not positive, the iteration throws ``FutureError/invalidArgument(_:)``.
    ///
    /// A task that waits for an instant keeps ``run()`` from returning. Other code that waits, such as
    /// ``LoopSequence/first()``, does the same if `keepsLoopAlive` is `true`.
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
