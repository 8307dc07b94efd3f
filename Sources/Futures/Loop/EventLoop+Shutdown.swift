extension EventLoop {
    /// Fails what is pending, runs the callbacks of that, closes all handles, and ends the loop for good.
    ///
    /// Pending promises and timers fail with ``FutureError/shutDown``, connections are aborted. Jobs that other
    /// threads submitted before are run, later ones are refused. Callbacks registered afterwards never run; the
    /// futures they would complete fail with ``FutureError/shutDown``. Does nothing the second time.
    /// The tasks behind ``Future/init(on:isolation:_:)`` are cancelled and waited for, since they can go on nowhere
    /// else: one that does not heed that keeps this from returning, and what other threads submit meanwhile is run.
    /// After five seconds it says on standard error which they are.
    /// Shut down after the last use of actors whose executor is the loop: a job of one that comes later traps. Traps
    /// in a callback of this loop, on a loop that is attached to a host's, and if callbacks go on starting new work:
    /// after 100,000 of them, and ten for each future that was alive and each job.
    ///
    /// Binds [`uv_loop_close`](https://docs.libuv.org/en/v1.x/loop.html).
    public final func shutdown() {
        core.checkThread()
        core.shutDown()
    }
}

extension LoopCore {
    func shutDown() {
        if isAttached { Misuse.attached("shutdown()") }
        guard !isShutDown else { return }
        if isRunning || isTurning { Misuse.nestedRun("shutdown()") }
        markAsDriven(true)
        defer { markAsDriven(false) }
        EventLoop.withCurrent(self) {
            isTurning = true
            var allowance = beginEnding()
            repeat {
                endPending(&allowance)
                if bodies.count > 0, !hasPending { waitForBodies() }
                // The tasks that wait no more go on, here.
                if isAtEnd { endRemotes(with: FutureError.shutDown) }
            } while !isAtEnd
            printOmitted()
            driver.close {}
            releaseHandlers()
            isTurning = false
            isTurnRequested = false
        }
        completedVoid = nil
        phase = .closed
        // What the handlers held may have left something.
        failReady()
    }

    /// Refuses what is new from now on. Returns how many callbacks may run until the end.
    func beginEnding() -> Int {
        phase = .shuttingDown
        contexts.moveAll(to: &ready)
        takeJobsAtEnd()
        return 100_000 + 10 * (liveCells + jobs.count)
    }

    /// Fails what is pending and runs the callbacks of that, which may leave something pending again.
    func endPending(_ allowance: inout Int) {
        failTimers(FutureError.shutDown)
        failPromises(FutureError.shutDown)
        driver.closeHandles()
        allowance -= 1 + drain()
        reportUnhandledFailures()
        if allowance < 0 { Misuse.endlessShutdown() }
        takeJobsAtEnd()
    }

    /// Turns the driver until something came, which may be a body that is back.
    private func waitForBodies() {
        noteWaitForBodies()
        isTurning = false
        driver.run()
        isTurning = true
        if bodies.count == 0 { takeLastJobs() }
    }

    /// At the end of each turn of a loop that is to end.
    func goOnEnding() {
        checkProcess()
        if isAttached { goOnDetaching() } else { driver.stop() }
    }

    /// Other threads may submit jobs as long as there is a body: it may wait for what those do.
    private func takeJobsAtEnd() {
        if bodies.count > 0 { takeJobs() } else { takeLastJobs() }
    }

    private var isAtEnd: Bool { liveHandles == 0 && !hasPending && bodies.count == 0 }

    var hasPending: Bool { !(ready.isEmpty && timers.isEmpty && promises.isEmpty) }
}
