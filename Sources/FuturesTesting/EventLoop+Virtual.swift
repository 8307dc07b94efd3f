public import Futures

extension EventLoop {
    /// A loop on virtual time, for tests: nothing sleeps, and ``advance(by:)`` moves the clock.
    ///
    /// It schedules exactly as a real loop does. ``EventLoop/run()`` jumps from deadline to deadline.
    ///
    /// It goes with the task that has made it, from thread to thread, as a test does that awaits something in between.
    /// Used by another task on another thread it traps, and so does whoever is elsewhere while somebody drives it.
    ///
    /// A body of the main actor that awaits something elsewhere comes back when whoever drives the loop awaits, too:
    /// `run(until:)` would wait for it for ever.
    ///
    /// After `maxCallbacksPerInstant` callbacks between two movements of the clock, within one call, it traps, and says
    /// where the last one was made: most often callbacks that start each other without end. Callbacks that other
    /// threads bring do not count. Looked at after each turn, so a few thousand more may have run. The place needs
    /// a build for debugging.
    public static func virtual(maxCallbacksPerInstant: Int = 1_000_000) -> EventLoop {
        let driver = VirtualDriver(maxCallbacksPerInstant: maxCallbacksPerInstant)
        let core = LoopCore(driver: driver, movesWithTasks: true)
        driver.loop = core
        return EventLoop(owning: core)
    }

    /// Runs what is ready, and whatever becomes due while the clock moves on by `duration`; `.zero` moves nothing.
    ///
    /// Traps on a loop that is not virtual, in a callback, and if `duration` is negative.
    public func advance(by duration: Duration) {
        guard let driver = core.driver as? VirtualDriver else {
            trap(
                "advance(by:) was called on an event loop of real time; make the loop by EventLoop.virtual()."
            )
        }
        guard let nanoseconds = duration.wholeNanoseconds else {
            trap("advance(by:) was given \(duration); time only moves forward.")
        }
        do {
            try core.enter("advance(by:)") { driver.advance(to: driver.now.addingSaturated(nanoseconds)) }
        } catch {
            trap("advance(by:) was called on an event loop that has been shut down; make a new one.")
        }
    }

    /// Moves the clock on by `duration` in the middle of a callback, and runs nothing: what a callback does that
    /// takes so long.
    ///
    /// Traps on a loop that is not virtual, and if `duration` is negative.
    public func advanceWithoutRunning(by duration: Duration) {
        guard let driver = core.driver as? VirtualDriver else {
            trap(
                "advanceWithoutRunning(by:) was called on an event loop of real time; make the loop by EventLoop.virtual()."
            )
        }
        guard let nanoseconds = duration.wholeNanoseconds else {
            trap("advanceWithoutRunning(by:) was given \(duration); time only moves forward.")
        }
        driver.advanceWithoutRunning(by: nanoseconds)
    }
}
