internal import Synchronization

extension EventLoop {
    /// Runs callbacks, timers and I/O on the calling thread, which the loop then belongs to.
    ///
    /// Returns after ``stop()``, or when nothing is left to do: no ready callback, no timer that keeps the loop
    /// alive, no open handle, no submitted job, no awaiting task. Can be called again afterwards.
    /// Traps in a callback of this loop, on a loop that is attached to a host's, and on another thread than the one
    /// that has used the loop before.
    ///
    /// Fails with ``FutureError/shutDown``. Binds [`uv_run`](https://docs.libuv.org/en/v1.x/loop.html).
    public func run() throws {
        try enter("run()") {
            if !takeStop() { driver.run() }
            if !takeStop() { endStalledWaiters() }
        }
    }

    /// Runs the loop until `future` completes, and returns its value or throws its error.
    ///
    /// Fails with ``FutureError/stalled`` if nothing is left that could complete it, and with
    /// ``FutureError/stopped`` after ``stop()``. Traps if `future` is of another loop, and where ``run()`` does, even if
    /// `future` has completed.
    public func run<Value>(until future: Future<Value>) throws -> Value {
        guard future.cell.cell.isOf(self) else { Misuse.foreignFuture() }
        if isRunning || isTurning { Misuse.nestedRun("run(until:)") }
        if let result = future.result {
            future.ignoreFailure()
            return try result.get()
        }
        let waiter = CellObject.waiting(self, step: StopStep(loop: self))
        future.cell.registerObserver(waiter, when: .all)
        var wasStopped = false
        try enter("run(until:)") {
            wasStopped = takeStop()
            guard !wasStopped else { return }
            driver.run()
            wasStopped = takeStop()
        }
        waiter.stopObserving(cancelling: false)
        guard let result = future.result else {
            if !wasStopped { endStalledWaiters() }
            throw wasStopped ? FutureError.stopped : FutureError.stalled
        }
        return try result.get()
    }

    private func takeStop() -> Bool { stopRequested.exchange(false, ordering: .acquiringAndReleasing) }

    /// Makes ``run()`` return after the callback that runs now, or at once the next time if none runs. Any thread.
    ///
    /// Traps on a loop that is attached to a host's.
    public func stop() {
        if isAttached { Misuse.attached("stop()") }
        stopRequested.store(true, ordering: .releasing)
        if isCurrent { driver.stop() } else { inbox.wake(self) }
    }

    /// Says whether somebody drives a loop that moves otherwise.
    func markAsDriven(_ isDriven: Bool) {
        if movesWithTasks { self.isDriven.store(isDriven, ordering: .releasing) }
    }

    /// Runs `body`, which turns the driver, as a run of this loop. `call` is what its user has called for that.
    package func enter(_ call: String, _ body: () -> Void) throws {
        checkProcess()
        guard !isShutDown else { throw FutureError.shutDown }
        if isAttached { Misuse.attached(call) }
        if isRunning || isTurning { Misuse.nestedRun(call) }
        claimThread(for: call)
        isRunning = true
        markAsDriven(true)
        defer {
            isRunning = false
            markAsDriven(false)
            completedVoid = nil
            printOmitted()
        }
        EventLoop.withCurrent(self, body)
    }
}

private struct StopStep: Step {
    let loop: EventLoop

    func run(source: Cell, target: Cell) { loop.driver.stop() }

    typealias Output = Void
}
