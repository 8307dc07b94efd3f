public import Futures

extension EventLoop {
    /// Creates a loop on virtual time, for tests. No thread sleeps: ``EventLoop/run()`` moves the clock directly from
    /// one timer to the next. To move the clock by a certain time, use ``advance(by:)``.
    ///
    /// The loop runs callbacks in the same order as a real loop.
    ///
    /// When the task that created the loop moves to another thread, the loop moves with it. So a test can still use the
    /// loop after an `await`, on another thread. The loop traps if another task uses it on another thread. It also
    /// traps if it is used on another thread while ``EventLoop/run()`` or ``advance(by:)`` is running.
    ///
    /// Suppose that an asynchronous closure on the main actor awaits something outside the loop. The closure continues
    /// only while the code that uses the loop is itself suspended at an `await`. So a call of `run(until:)` that waits
    /// for such a closure never returns.
    ///
    /// The loop traps if more than `maxCallbacksPerInstant` callbacks run before the clock moves, within one call such
    /// as `run()`. Usually the cause is callbacks that start each other endlessly. In a debug build, the message names
    /// the place in the code that created the last callback. The loop checks the number after each turn, so a few
    /// thousand more callbacks may have run by then. Callbacks that other threads cause do not count.
    public static func virtual(maxCallbacksPerInstant: Int = 1_000_000) -> EventLoop {
        let simulation = Simulation()
        let host = SimulatedHost("virtual", [], simulation, isInWorld: false)
        host.names = NoNames()
        simulation.add(host)
        return host.makeLoop(maxCallbacksPerInstant: maxCallbacksPerInstant)
    }

    /// Runs the ready callbacks, then moves the clock forward by `duration`. Each timer that becomes due during this
    /// time fires at its own time. With `.zero`, the clock does not move.
    ///
    /// Traps if the loop is not virtual or has been shut down, if the call is made in a callback, or if `duration` is
    /// negative.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// let pause = loop.sleep(for: .seconds(3600))
    /// loop.advance(by: .seconds(3600))
    /// print(pause.isCompleted)    // true
    /// ```
    public func advance(by duration: Duration) {
        let (driver, nanoseconds) = toAdvance("advance(by:)", duration)
        do {
            try core.enter("advance(by:)") { driver.advance(to: driver.now.addingSaturated(nanoseconds)) }
        } catch {
            trap("advance(by:) was called on an event loop that has been shut down; make a new one.")
        }
    }

    /// Moves the clock forward by `duration`, without running callbacks or timers. A call inside a callback simulates a
    /// callback that takes `duration` to run.
    ///
    /// Traps if the loop is not virtual, or if `duration` is negative.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// loop.onSlowCallback { time in print("a callback took \(time)") }
    /// loop.later { loop.advanceWithoutRunning(by: .seconds(1)) }
    /// try loop.run()    // a callback took 1.0 seconds
    /// ```
    public func advanceWithoutRunning(by duration: Duration) {
        let (driver, nanoseconds) = toAdvance("advanceWithoutRunning(by:)", duration)
        driver.advanceWithoutRunning(by: nanoseconds)
    }

    /// Returns the driver, and `duration` in nanoseconds. Traps if the loop is not virtual, or if `duration`
    /// is negative.
    private func toAdvance(_ call: String, _ duration: Duration) -> (VirtualDriver, nanoseconds: UInt64) {
        guard let driver = core.driver as? VirtualDriver else {
            trap("\(call) was called on an event loop of real time; make the loop by EventLoop.virtual().")
        }
        if driver.host.isInWorld {
            trap("\(call) was called on the loop of a host in a world; call run(for:) of the world.")
        }
        guard let nanoseconds = duration.wholeNanoseconds else {
            trap("\(call) was given \(duration); time only moves forward.")
        }
        return (driver, nanoseconds)
    }
}
