internal import Synchronization

extension LoopCore {
    /// Ends the loop: nobody holds any more what `EventLoop()` has returned.
    func ownerIsGone() {
        // The host of an attached loop decides when that ends.
        guard phase == .open, !isAttached else { return }
        if !isOnItsThread { comeToThisThread() }
        hasLostOwner = true
        guard !isRunning, !isTurning else { return driver.stop() }
        endIfAtRest()
    }

    /// Ends a loop that has lost its owner, unless a change is in progress: then the end of that does.
    func endIfAtRest() {
        guard phase == .open, !isRunning, !isTurning else { return }
        guard isAtRest else {
            hasWorkLeft = true
            return
        }
        #if DEBUG
            if let rest, !movesWithTasks { StandardError.print(Misuse.forgottenLoop(with: rest)) }
        #endif
        // The last of its futures goes with this.
        retainItself()
        shutDown()
        releaseItself()
    }

    /// Moves the loop to the calling thread, if nothing is alive on it or its own thread has ended.
    private func comeToThisThread() {
        let isDriven = isRunning || movesWithTasks && isDriven.load(ordering: .acquiring)
        let isFree = movesWithTasks || thread.load(ordering: .relaxed) == 0
        if isDriven || !isFree, let rest { Misuse.forgottenElsewhere(with: rest) }
        moveToThisThread()
    }

    /// Whether no change is in progress, and no callback runs at once.
    private var isAtRest: Bool {
        !isDistributing && !isCancelling && releaseDepth == 0 && askingDepth == 0 && contexts.holds == 0
            && contexts.depth == 0
    }

    /// What is alive on the loop, for a person; `nil` if nothing is.
    private var rest: String? {
        let futures = liveCells - (completedVoid == nil ? 0 : 1)
        guard futures > 0 || liveHandles > 0 || isRunning else { return nil }
        return "\(futures) futures and \(liveHandles) handles"
    }
}
