internal import Synchronization

extension LoopCore {
    /// Ends the loop: nobody holds any more what `EventLoop()` has returned.
    func ownerIsGone() {
        // The host of an attached loop decides when that ends.
        guard ending.phase == .open, !isAttached else { return }
        if !isOnItsThread { comeToThisThread() }
        ending.hasLostOwner = true
        guard !turnState.isRunning, !turnState.isTurning else { return driver.stop() }
        endIfAtRest()
    }

    /// Ends a loop that has lost its owner, unless a change is in progress: then the end of that does.
    func endIfAtRest() {
        guard ending.phase == .open, !turnState.isRunning, !turnState.isTurning else { return }
        guard propagation.isAtRest else {
            propagation.hasWorkLeft = true
            return
        }
        #if DEBUG
            if let rest, !home.movesWithTasks { StandardError.print(Misuse.forgottenLoop(with: rest)) }
        #endif
        // The last of its futures goes with this.
        retainItself()
        shutDown()
        releaseItself()
    }

    /// Moves the loop to the calling thread, if nothing is alive on it or its own thread has ended.
    private func comeToThisThread() {
        let isDriven = turnState.isRunning || home.movesWithTasks && home.isDriven.load(ordering: .acquiring)
        let isFree = home.movesWithTasks || home.thread.load(ordering: .relaxed) == 0
        if isDriven || !isFree, let rest { Misuse.forgottenElsewhere(with: rest) }
        moveToThisThread()
    }

    /// What is alive on the loop, for a person; `nil` if nothing is.
    private var rest: String? {
        let futures = counts.cells - (completedVoid == nil ? 0 : 1)
        guard futures > 0 || liveHandles > 0 || turnState.isRunning else { return nil }
        return "\(futures) futures and \(liveHandles) handles"
    }
}
