public import Futures
internal import Synchronization

extension World {
    /// Runs the programs of all hosts for `time`.
    ///
    /// Throws the first error that a program or a check throws, as a ``WorldFailure``. Traps if a program of the world
    /// calls this function, or if `time` is negative.
    public func run(for time: Duration) throws {
        let end = self.time(after: time, "run(for:)")
        try running { while failure == nil, step(until: end) {} }
        if simulation.now < end { simulation.now = end }
    }

    /// Runs the programs of all hosts until `future` completes. Returns the value of `future`, or throws its error.
    ///
    /// Throws ``Futures/FutureError/timedOut(after:)`` if `future` is still pending after `limit`. Throws
    /// ``Futures/FutureError/stalled`` if nothing is left in the world that could complete `future`. Throws the first
    /// error that a program or a check throws, as a ``WorldFailure``. Traps if `future` does not belong to a loop of
    /// this world.
    public func run<Value>(until future: Future<Value>, within limit: Duration = .seconds(3600)) throws
        -> Value
    {
        guard let driver = future.loop.core.driver as? VirtualDriver, driver.simulation === simulation else {
            fatalError(
                "run(until:) of a world was given a future of another world or loop. Pass a future of one "
                    + "of the world's own hosts.")
        }
        try run(until: { future.isCompleted }, within: limit)
        return try future.result!.get()
    }

    /// Runs the programs of all hosts until `condition` returns `true`. The world calls `condition` after each event.
    ///
    /// Throws ``Futures/FutureError/timedOut(after:)`` if `condition` is still `false` after `limit`. Throws
    /// ``Futures/FutureError/stalled`` if nothing is left to happen in the world. Throws the first error that a program
    /// or a check throws, as a ``WorldFailure``.
    public func run(until condition: () throws -> Bool, within limit: Duration = .seconds(3600)) throws {
        let end = time(after: limit, "run(until:within:)")
        var holds = try condition()
        try running {
            while failure == nil, !holds, step(until: end) { holds = try condition() }
        }
        if holds { return }
        guard !simulation.isOver else { throw FutureError.stalled }
        simulation.now = end
        throw FutureError.timedOut(after: limit)
    }

    /// Calls `body` after `delay`, between two events. Use it to change the world while it runs, for example to crash a
    /// host. If `body` throws, the run ends, and throws that error as a ``WorldFailure``.
    ///
    /// Traps if `delay` is negative.
    public func schedule(after delay: Duration, _ body: @escaping () throws -> Void) {
        simulation.call(at: time(after: delay, "schedule(after:)")) { [unowned self] in
            do { try body() } catch { fail(error, of: "a scheduled change") }
        }
    }

    /// Calls `check` after every `interval`, between two events. If `check` throws, the run ends, and throws that error
    /// as a ``WorldFailure``. Use this function for invariants. Traps if `interval` is not positive.
    public func check(every interval: Duration, _ check: @escaping () throws -> Void) {
        if interval <= .zero {
            fatalError("check(every:) of a world was given \(interval); give more than zero.")
        }
        simulation.call(after: interval) { [unowned self] in
            do {
                try check()
                self.check(every: interval, check)
            } catch {
                fail(error, of: "a check")
            }
        }
    }

    /// Returns the time at which `duration` will have passed. Traps if it is negative.
    private func time(after duration: Duration, _ call: String) -> UInt64 {
        guard let nanoseconds = duration.wholeNanoseconds else {
            fatalError("\(call) of a world was given \(duration); time only moves forward.")
        }
        return simulation.now.addingSaturated(nanoseconds)
    }

    /// Ends the run with `error`.
    func fail(_ error: any Error, of subject: String) {
        guard failure == nil else { return }
        note("\(subject) fails: \(error)")
        failure = WorldFailure(seed: seed, time: now, subject: subject, error: error)
    }

    private func running(_ body: () throws -> Void) throws {
        guard !isRunning else {
            fatalError(
                "A world was run by one of its own programs. Let the program return; the world goes on by itself."
            )
        }
        isRunning = true
        defer { isRunning = false }
        if failure == nil { try body() }
        if let failure { throw failure }
    }

    /// Advances the clock to the next event or ready loop, and runs it. Returns `false` if nothing happens until `end`.
    private func step(until end: UInt64) -> Bool {
        if simulation.hasWokenLoops.load(ordering: .relaxed) { markWoken() }
        switch simulation.takeStep(until: end) {
        case .event(let event): event.happen()
        case .loop(let driver): driver.runOnce()
        case nil: return false
        }
        return true
    }

    private func markWoken() {
        simulation.hasWokenLoops.store(false, ordering: .sequentiallyConsistent)
        for driver in simulation.loops.all { driver.markIfWoken() }
    }
}

/// The error of a program or of a check that ended the run of a world.
public struct WorldFailure: Error {
    public let seed: UInt64
    /// The time since the beginning of the world.
    public let time: Duration
    /// The part that failed, such as `the program of host a`.
    public let subject: String
    public let error: any Error
}

extension WorldFailure: CustomStringConvertible {
    public var description: String { "seed \(seed), at \(time): \(subject) failed: \(error)" }
}
