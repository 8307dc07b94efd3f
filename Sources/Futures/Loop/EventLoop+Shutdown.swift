extension EventLoop {
    /// Fails what is pending, runs the callbacks of that, closes all handles, and ends the loop for good.
    ///
    /// Pending promises and timers fail with ``FutureError/shutDown``, connections are aborted. Jobs that other
    /// threads submitted before are run, later ones are refused. Callbacks registered afterwards never run; the
    /// futures they would complete fail with ``FutureError/shutDown``. Does nothing the second time.
    /// Traps in a callback of this loop, and if callbacks go on starting new work: after 100,000 of them, and ten
    /// for each future that was alive.
    ///
    /// Binds [`uv_loop_close`](https://docs.libuv.org/en/v1.x/loop.html).
    public func shutdown() {
        checkThread()
        guard !isShutDown else { return }
        if isRunning || isTurning { Misuse.nestedRun() }
        EventLoop.withCurrent(self) {
            isTurning = true
            phase = .shuttingDown
            for job in inbox.close() { enqueue(job) }
            var allowance = 100_000 + 10 * liveCells
            repeat {
                failTimers(FutureError.shutDown)
                failPromises(FutureError.shutDown)
                driver.closeHandles()
                allowance -= 1 + drain()
                reportUnhandledFailures()
                if allowance < 0 { Misuse.endlessShutdown() }
            } while !(ready.isEmpty && timers.isEmpty && promises.isEmpty && liveHandles == 0)
            printOmitted()
            driver.close()
            isTurning = false
            isTurnRequested = false
        }
        completedVoid = nil
        phase = .closed
    }
}
