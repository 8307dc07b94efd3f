internal import Synchronization

extension LoopCore {
    /// Nobody holds the loop any more that `EventLoop()` has returned: it ends.
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

    /// A loop that nobody uses may be let go of anywhere, and so may one whose thread has ended.
    private func comeToThisThread() {
        let isAtRest = movesWithTasks && !isDriven.load(ordering: .acquiring)
        let isFree = isAtRest || thread.load(ordering: .relaxed) == 0
        if let rest, !isFree { Misuse.forgottenElsewhere(with: rest) }
        moveToThisThread()
    }

    /// A callback has let go of the loop that runs it.
    private func endAfterRun() {
        hasLostOwner = true
        driver.stop()
    }

    /// What is alive on the loop, for a person; `nil` if nothing is.
    private var rest: String? {
        let futures = liveCells - (completedVoid == nil ? 0 : 1)
        guard futures > 0 || liveHandles > 0 else { return nil }
        return "\(futures) futures and \(liveHandles) handles"
    }
}
