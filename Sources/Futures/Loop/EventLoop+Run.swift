internal import Synchronization

extension EventLoop {
    /// Runs callbacks, timers and I/O on the calling thread. From then on, the loop belongs to that thread.
    ///
    /// Returns after ``stop()``, or when nothing is left to do: no ready callback, no timer that keeps the
    /// loop alive, no open handle, no submitted job, no awaiting task. You can call `run()` again after it
    /// has returned.
    ///
    /// Traps in a callback of this loop. Traps on a loop that is attached to the event loop of a host, such
    /// as a C program or Node.js. Traps if the loop belongs to another thread and has futures or open
    /// handles.
    ///
    /// Throws ``FutureError/shutDown`` if the loop has been shut down. Binds
    /// [`uv_run`](https://docs.libuv.org/en/v1.x/loop.html).
    public func run() throws {
        try core.enter("run()") {
            if !core.takeStop() { core.driver.run() }
            if !core.takeStop(), !core.ending.hasLostOwner { core.endStalledWaiters() }
        }
    }

    /// Runs the loop until `future` completes. Returns the value of `future`, or throws its error.
    ///
    /// Throws ``FutureError/stalled`` if nothing is left on the loop that could complete `future`. Throws
    /// ``FutureError/stopped`` if ``stop()`` is called before `future` completes. Traps if `future` belongs
    /// to a different loop. Also traps in the cases in which ``run()`` traps, even if `future` has completed
    /// already.
    ///
    /// ```swift
    /// let page = try loop.run(until: fetch("page").timeout(after: .seconds(5)))
    /// ```
    public func run<Value>(until future: Future<Value>) throws -> Value {
        guard future.cell.pointer.isOf(core) else { Misuse.foreignFuture() }
        if core.turnState.isRunning || core.turnState.isTurning { Misuse.nestedRun("run(until:)") }
        if let result = future.result {
            future.ignoreFailure()
            return try result.get()
        }
        let waiter = Cell.waiting(core, step: JobStep { [core] in core.driver.stop() })
        future.cell.registerObserver(waiter, when: .all)
        var wasStopped = false
        try core.enter("run(until:)") {
            wasStopped = core.takeStop()
            guard !wasStopped else { return }
            core.driver.run()
            wasStopped = core.takeStop()
        }
        waiter.stopObserving(cancelling: false)
        guard let result = future.result else {
            if !wasStopped { core.endStalledWaiters() }
            throw wasStopped ? FutureError.stopped : FutureError.stalled
        }
        return try result.get()
    }

    /// Makes ``run()`` return as soon as the running callback has ended. If the loop is not running, the next
    /// call of ``run()`` returns at once. May be called on any thread.
    ///
    /// Traps on a loop that is attached to the event loop of a host, such as a C program or Node.js.
    public func stop() {
        if core.isAttached { Misuse.attached("stop()") }
        core.stopRequested.store(true, ordering: .releasing)
        if isCurrent { core.driver.stop() } else { core.inbox.wake(core) }
    }
}

extension LoopCore {
    fileprivate func takeStop() -> Bool { stopRequested.exchange(false, ordering: .acquiringAndReleasing) }

    /// Records whether somebody runs the loop. Only a loop that moves with tasks needs the record.
    func markAsDriven(_ isDriven: Bool) {
        if home.movesWithTasks { home.isDriven.store(isDriven, ordering: .releasing) }
    }

    /// Runs `body`, which runs the driver, and sets the state of a running loop meanwhile. `call` is the name
    /// of the public function that the user has called.
    package func enter(_ call: String, _ body: () -> Void) throws {
        checkProcess()
        guard !isShutDown else { throw FutureError.shutDown }
        if isAttached { Misuse.attached(call) }
        if turnState.isRunning { Misuse.nestedRun(call) }
        claimThread(for: call)
        turnState.isRunning = true
        markAsDriven(true)
        workBegins()
        defer {
            workEnds()
            turnState.isRunning = false
            markAsDriven(false)
            completedVoid = nil
            printOmitted()
            if ending.hasLostOwner { endIfAtRest() }
        }
        EventLoop.withCurrent(self) { carriedLocals.withoutValues(body) }
    }
}
