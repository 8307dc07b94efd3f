/// The work that follows a change of a cell. The propagation hands outcomes to consumers, releases what
/// nothing needs any more, asks cells upstream to cancel, and runs the callbacks that run at once.
///
/// Each kind of work has a list. The work is done from the list, so it does not recurse, no matter how long a
/// chain of futures is. A change may cause other changes. Each change ends with a call of `finishChange`, and
/// the outermost call does the work that all of them have left.
final class Propagation {
    @exclusivity(unchecked) private unowned(unsafe) var owner: LoopCore!
    /// The loop of the cells.
    var loop: LoopCore { unsafe owner }

    /// Whether the change in progress has work to do at its end.
    var hasWorkLeft = false

    // For releases: see `Graveyard`.
    let graveyard = Graveyard()
    /// The number of releases that are nested on the stack.
    var releaseDepth = 0

    // For outcomes: see `Distribution`.
    /// The completed cells whose consumers have not all got the outcome. The array owns a reference to each
    /// cell. The check of exclusive access is off, because it would cost time at each use. A change of the
    /// array runs no code of users.
    @exclusivity(unchecked) var passingOn: [CellPointer] = []
    var isDistributing = false

    // For requests to cancel: see `Propagation+Requests`.
    var requests: [PendingRequest] = []
    var isWorkingOffRequests = false
    /// The number of handlers of requests to cancel that are nested on the stack.
    var askingDepth = 0
    /// The actions that follow because a token has been cancelled: see `TokenWatch`.
    var tokenActions: [(number: UInt64, action: () -> Void)] = []
    /// The number of the watch that was made last.
    var lastWatch: UInt64 = 0

    // For callbacks that run at once: see `Propagation+Immediate`.
    var immediate = ReadyQueue()
    /// The callbacks that wait until another callback of the same future has ended.
    var postponed = ReadyQueue()
    /// Whether the ready queue holds the step that runs the postponed callbacks.
    var isCatchingUp = false
    /// The number of callbacks of the context `immediate` that are nested on the stack.
    var callbackDepth = 0
    /// The number of changes in progress. No callback runs at once before all of them are complete.
    var holds = 0

    func belong(to loop: LoopCore) { unsafe owner = loop }

    /// Ends a change. Empties the graveyard and runs the callbacks that run at once, unless a caller further
    /// up the stack does so.
    @inline(__always)
    func finishChange() { if hasWorkLeft, releaseDepth == 0, !isDistributing { doWhatIsLeft() } }

    @inline(never)
    private func doWhatIsLeft() {
        if !graveyard.isEmpty { emptyGraveyard() }
        // Callbacks that may not run yet are left for a later call.
        hasWorkLeft = holds > 0 && !immediate.isEmpty
        if !tokenActions.isEmpty { runTokenActions() }
        runImmediate()
        if loop.ending.hasLostOwner { loop.endIfAtRest() }
    }

    /// Makes the changes of `body` as one change: callbacks that run at once run only after `body`.
    func asOneChange<Result>(_ body: () -> Result) -> Result {
        holds += 1
        let result = body()
        holds -= 1
        return result
    }

    /// Makes the changes of `body` as one change, and ends that.
    @inline(__always)
    func change(_ body: () -> Void) {
        asOneChange(body)
        finishChange()
    }

    /// Whether no change is in progress, and no callback runs at once.
    var isAtRest: Bool {
        !isDistributing && !isWorkingOffRequests && releaseDepth == 0 && askingDepth == 0 && holds == 0
            && callbackDepth == 0
    }
}
