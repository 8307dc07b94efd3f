public import Futures

extension EventLoop {
    /// Creates a loop on virtual time, for tests: nothing sleeps, and ``advance(by:)`` moves the clock.
    ///
    /// It schedules exactly as a real loop does. ``EventLoop/run()`` jumps from deadline to deadline.
    ///
    /// The loop goes from thread to thread with the task that has made it, as when a test awaits something in
    /// between. It traps if another task uses it on another thread, or if somebody uses it elsewhere while it is
    /// being driven.
    ///
    /// A body of the main actor that awaits something elsewhere comes back only when the driving code awaits, too:
    /// `run(until:)` would wait for it for ever.
    ///
    /// The loop traps after `maxCallbacksPerInstant` callbacks between two movements of the clock, within one call.
    /// It says where the last one was made. Mostly these are callbacks that start each other without end. Callbacks
    /// that other threads bring do not count. The loop checks after each turn, so a few thousand more may have run.
    /// The place needs a build for debugging.
    public static func virtual(maxCallbacksPerInstant: Int = 1_000_000) -> EventLoop {
        let driver = VirtualDriver(maxCallbacksPerInstant: maxCallbacksPerInstant)
        let core = LoopCore(driver: driver, movesWithTasks: true)
        driver.loop = core
        return EventLoop(owning: core)
    }

    /// Runs what is ready, and whatever becomes due while the clock moves on by `duration`. `.zero` moves nothing.
    ///
    /// Traps on a loop that is not virtual or has been shut down, in a callback, and if `duration` is negative.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// let pause = loop.sleep(for: .seconds(3600))
    /// loop.advance(by: .seconds(3600))
    /// print(pause.isCompleted)    // true
    /// ```
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

    /// Moves the clock on by `duration` in the middle of a callback, and runs nothing. It stands for a callback that
    /// takes so long.
    ///
    /// Traps on a loop that is not virtual, and if `duration` is negative.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// loop.onSlowCallback { time in print("a callback took \(time)") }
    /// loop.later { loop.advanceWithoutRunning(by: .seconds(1)) }
    /// try loop.run()    // a callback took 1.0 seconds
    /// ```
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
