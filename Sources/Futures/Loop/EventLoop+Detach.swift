extension EventLoop {
    /// Ends a loop that is attached to the event loop of a host, such as a C program or Node.js. The host's
    /// loop itself stays open.
    ///
    /// Fails everything that is pending and closes all handles, as ``shutdown()`` does. The handles close
    /// only while the host's loop runs. Therefore keep the host's loop running until the returned future
    /// completes. Close the host's loop only after that.
    ///
    /// Cancels the tasks behind ``Future/init(on:isolation:_:)``. The returned future completes after these
    /// tasks have ended. After five seconds, standard error lists the tasks that have not ended.
    ///
    /// You can call this function in a callback of the loop. If you call this function again, the new future
    /// completes at the same time as the first one. Traps on a loop that is not attached.
    public func detach() -> Future<Void> {
        core.checkThread()
        return core.beginDetaching()
    }
}

extension LoopCore {
    fileprivate func beginDetaching() -> Future<Void> {
        guard isAttached else { Misuse.notAttached() }
        if let detachment = ending.detachment { return Future(detachment.outcome) }
        if ending.phase == .closed { return succeeded() }
        let outcome = Cell.plain(self, state: .pending, of: Void.self)
        outcome.markObserved()
        // The turn that follows goes on with the end.
        requestTurn()
        // The request has found out that the host has closed the driver's handles.
        if ending.phase == .closed { return failed(FutureError.shutDown) }
        ending.detachment = Detachment(outcome: outcome, allowance: beginEnding())
        return Future(outcome)
    }

    /// Fails everything that is pending. Closes the driver when no handle is open and no body runs.
    func goOnDetaching() {
        guard var detachment = ending.detachment, !detachment.isClosing else { return }
        repeat { endPending(&detachment.allowance) } while hasPending
        if bodies.count > 0 { noteWaitForBodies() }
        detachment.isClosing = liveHandles == 0 && bodies.count == 0
        ending.detachment = detachment
        guard detachment.isClosing else { return }
        endRemotes(with: FutureError.shutDown)
        driver.close { [self] in detached() }
    }

    private func detached() {
        end {
            releaseHandlers()
            ending.detachment?.outcome.succeed(())
            while !ready.isEmpty { drain() }
            reportUnhandledFailures()
            printOmitted()
        }
    }

    /// Ends everything now. The host has closed the driver's handles, so the driver can call nothing any more.
    package func hostHasClosed() {
        StandardError.print(
            "A host has closed the handles of an event loop that is attached to it. Call detach() first, and close "
                + "the host's loop when the future of that completes.")
        end {
            var allowance = beginEnding()
            // Accepts no jobs even if a body has not ended: nothing can wake the driver any more.
            takeLastJobs()
            repeat {
                endPending(&allowance)
                if !hasPending { endRemotes(with: FutureError.shutDown) }
            } while hasPending
            releaseHandlers()
            ending.detachment?.outcome.fail(FutureError.shutDown)
            printOmitted()
        }
    }
}
