extension EventLoop {
    /// Ends the loop for ever: fails everything that is pending, runs the callbacks for those failures, and
    /// closes all handles. A second call does nothing.
    ///
    /// Pending promises and timers fail with ``FutureError/shutDown``, and connections are aborted. Jobs that
    /// other threads submitted before the shutdown still run. The loop refuses later jobs. Callbacks that are
    /// registered after the shutdown never run, and their futures fail with ``FutureError/shutDown``.
    ///
    /// Cancels the tasks behind ``Future/init(on:isolation:_:)``, and waits until these tasks have ended. The
    /// tasks must end before the loop does, because they cannot run anywhere else. So a task that ignores its
    /// cancellation keeps this function from returning. During the wait, jobs that other threads submit still
    /// run. After five seconds, standard error lists the tasks that have not ended.
    ///
    /// If actors have the loop as their executor, shut the loop down after the last use of these actors. A
    /// later job of such an actor traps.
    ///
    /// Traps in a callback of this loop. Traps on a loop that is attached to the event loop of a host, such
    /// as a C program or Node.js. Traps if the callbacks start new work without end. The limit is 100,000
    /// callbacks, plus ten for each future and each submitted job that existed when the shutdown began.
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
        if turnState.isRunning { Misuse.nestedRun("shutdown()") }
        markAsDriven(true)
        defer { markAsDriven(false) }
        end {
            var allowance = beginEnding()
            repeat {
                endPending(&allowance)
                if bodies.count > 0, !hasPending { waitForBodies() }
                // This call ends the waits of tasks. These tasks go on in the next round.
                if isAtEnd { endRemotes(with: FutureError.shutDown) }
            } while !isAtEnd
            printOmitted()
            driver.close {}
            releaseHandlers()
        }
    }

    /// Runs `body`, which ends everything on the loop, as the loop's last turn. Then marks the loop as closed.
    func end(_ body: () -> Void) {
        EventLoop.withCurrent(self) {
            carriedLocals.withoutValues {
                turnState.isTurning = true
                body()
                turnState.isTurning = false
                turnState.isRequested = false
            }
        }
        completedVoid = nil
        ending.detachment = nil
        ending.phase = .closed
        // No turn ends any more.
        turnEndings.removeAll()
        // Objects that the released handlers held may have queued callbacks.
        failReady()
    }

    /// Refuses new work from now on. Returns how many callbacks may run until the end.
    func beginEnding() -> Int {
        ending.phase = .shuttingDown
        contexts.moveAll(to: &ready)
        takeJobsAtEnd()
        return 100_000 + 10 * (counts.cells + jobs.count)
    }

    /// Fails everything that is pending, and runs the callbacks. The callbacks may start work that is pending again.
    func endPending(_ allowance: inout Int) {
        failTimers(FutureError.shutDown)
        failPromises(FutureError.shutDown)
        driver.closeHandles()
        allowance -= 1 + drain()
        turnEndings.tellAll()
        reportUnhandledFailures()
        if allowance < 0 { Misuse.endlessShutdown() }
        takeJobsAtEnd()
    }

    /// Runs the driver until an event has come, such as the end of a body.
    private func waitForBodies() {
        noteWaitForBodies()
        turnState.isTurning = false
        driver.run()
        turnState.isTurning = true
        if bodies.count == 0 { takeLastJobs() }
    }

    /// Continues to end the loop. Called at the end of each turn.
    func goOnEnding() {
        checkProcess()
        if isAttached { goOnDetaching() } else { driver.stop() }
    }

    /// Takes the jobs from the inbox. Closes the inbox unless a body runs: the body may wait for later jobs.
    private func takeJobsAtEnd() { if bodies.count > 0 { takeJobs() } else { takeLastJobs() } }

    private var isAtEnd: Bool { liveHandles == 0 && !hasPending && bodies.count == 0 }

    var hasPending: Bool { !(ready.isEmpty && timers.isEmpty && promises.isEmpty) }
}
