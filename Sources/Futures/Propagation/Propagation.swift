/// What follows when a cell of a loop changes: its outcome is handed on, what nobody needs any more is released, what
/// is upstream is asked to cancel, and the callbacks run that are to run at once.
///
/// Each of these is a list of work, so that none of them recurses into the next, however long a chain of futures is. A
/// change may bring others about: `finishChange` ends each, and the outermost does what all of them have left.
final class Propagation {
    @exclusivity(unchecked) private unowned(unsafe) var owner: LoopCore!
    /// The loop of the cells.
    var loop: LoopCore { unsafe owner }

    /// Whether something is left to do at the end of the change in progress.
    var hasWorkLeft = false

    // Releasing: `Graveyard`.
    let graveyard = Graveyard()
    /// How many releases of payloads are nested on the stack.
    var releaseDepth = 0

    // Handing on: `Distribution`.
    /// Cells with consumers that are still to hear of the outcome, each with a reference. Changing this runs no user
    /// code, and each look at it would be checked at run time.
    @exclusivity(unchecked) var passingOn: [CellPointer] = []
    var isDistributing = false

    // Asking upstream: `Propagation+Requests`.
    var requests: [PendingRequest] = []
    var isWorkingOffRequests = false
    /// How many handlers of requests to cancel are nested on the stack.
    var askingDepth = 0
    /// What is to be done because a token has been cancelled: `TokenWatch`.
    var tokenActions: [() -> Void] = []

    // Callbacks that run at once: `Propagation+Immediate`.
    var immediate = ReadyQueue()
    /// Callbacks that were to run at once while another callback of their future ran. They run after that one.
    var postponed = ReadyQueue()
    /// Whether the postponed callbacks have their place in the ready queue.
    var isCatchingUp = false
    /// How many callbacks that were run at once are nested on the stack.
    var callbackDepth = 0
    /// The number of changes in progress that callbacks are not to see half-way.
    var holds = 0

    func belong(to loop: LoopCore) { unsafe owner = loop }

    /// Ends a change: releases what is buried, and runs what has to run at once, unless a caller further up does so.
    @inline(__always)
    func finishChange() {
        if hasWorkLeft, releaseDepth == 0, !isDistributing { doWhatIsLeft() }
    }

    @inline(never)
    private func doWhatIsLeft() {
        if !graveyard.isEmpty { emptyGraveyard() }
        // What may not run yet is looked for again.
        hasWorkLeft = holds > 0 && !immediate.isEmpty
        if !tokenActions.isEmpty { runTokenActions() }
        runImmediate()
        if loop.ending.hasLostOwner { loop.endIfAtRest() }
    }

    /// Makes several changes as one: callbacks that run at once run afterwards.
    func asOneChange<Result>(_ body: () -> Result) -> Result {
        holds += 1
        let result = body()
        holds -= 1
        return result
    }

    /// Whether no change is in progress, and no callback runs at once.
    var isAtRest: Bool {
        !isDistributing && !isWorkingOffRequests && releaseDepth == 0 && askingDepth == 0 && holds == 0
            && callbackDepth == 0
    }
}
