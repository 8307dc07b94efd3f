internal import Synchronization

extension LoopCore {
    /// Ends the loop. Called when the object that `EventLoop()` returned is released.
    func ownerIsGone() {
        // An attached loop ends when its host decides so.
        guard ending.phase == .open, !isAttached else { return }
        if !isOnItsThread { comeToThisThread() }
        ending.hasLostOwner = true
        guard !turnState.isRunning, !turnState.isTurning else { return driver.stop() }
        endIfAtRest()
    }

    /// Ends a loop that has lost its owner. If a change of futures is in progress, the end of that change
    /// ends the loop.
    func endIfAtRest() {
        guard ending.phase == .open, !turnState.isRunning, !turnState.isTurning else { return }
        guard propagation.isAtRest else {
            propagation.hasWorkLeft = true
            return
        }
        #if DEBUG
            if let rest, !home.movesWithTasks { StandardError.print(Misuse.forgottenLoop(with: rest)) }
        #endif
        // Retained, since the shutdown releases the last future, which would release the core.
        retainItself()
        shutDown()
        releaseItself()
    }

    /// Moves the loop to the calling thread, if nothing is alive on the loop or the loop's own thread has
    /// ended. Otherwise traps.
    private func comeToThisThread() {
        let isFree = home.movesWithTasks || home.thread.load(ordering: .relaxed) == 0
        let isDriven = home.isDriven.load(ordering: .acquiring)
        if isDriven || !isFree, let rest { Misuse.forgottenElsewhere(with: rest) }
        moveToThisThread()
    }

    /// A text about what is alive on the loop. `nil` if nothing is.
    private var rest: String? {
        let futures = counts.cells - (completedVoid == nil ? 0 : 1)
        guard futures > 0 || liveHandles > 0 || turnState.isRunning else { return nil }
        return "\(futures) futures and \(liveHandles) handles"
    }
}
