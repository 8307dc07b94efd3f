internal import Synchronization

extension LoopCore {
    /// Ends the loop, since nobody holds what `EventLoop()` has returned any more.
    func ownerIsGone() {
        // Of an attached one the host decides.
        guard phase == .open, !isAttached else { return }
        if !isOnItsThread { comeToThisThread() }
        guard !isRunning, !isTurning else { return endAfterRun() }
        #if DEBUG
            if let rest, !movesWithTasks { StandardError.print(Misuse.forgottenLoop(with: rest)) }
        #endif
        shutDown()
    }

    /// Moves the loop here. A loop that nobody uses may be released anywhere, and so may one without a thread.
    private func comeToThisThread() {
        let isAtRest = movesWithTasks && !isDriven.load(ordering: .acquiring)
        let isFree = isAtRest || thread.load(ordering: .relaxed) == 0
        if let rest, !isFree { Misuse.forgottenElsewhere(with: rest) }
        moveToThisThread()
    }

    /// Ends the loop after this run: a callback has released the loop that runs it.
    private func endAfterRun() {
        hasLostOwner = true
        driver.stop()
    }

    /// A description of what is alive on the loop, `nil` if nothing is.
    private var rest: String? {
        let futures = liveCells - (completedVoid == nil ? 0 : 1)
        guard futures > 0 || liveHandles > 0 else { return nil }
        return "\(futures) futures and \(liveHandles) handles"
    }
}
