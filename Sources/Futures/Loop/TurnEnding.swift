/// An object that does something at the end of a turn, when all callbacks of the turn have run.
package protocol TurnEnding: AnyObject {
    func turnEnds()
}

extension LoopCore {
    /// Calls `turnEnds` of `object` at the end of this turn. If no turn runs, there will be one. Callbacks that become
    /// ready in `turnEnds` run in the next turn.
    package func atTurnEnd(_ object: any TurnEnding) {
        turnEndings.append(object)
        turnState.hasEndings = true
        requestTurn()
    }

    func endTurn() {
        // One ending may bring another: a stream sends what it has gathered to a stream that gathers, too.
        var next = 0
        while next < turnEndings.count {
            let ending = turnEndings[next]
            next += 1
            ending.turnEnds()
        }
        turnState.hasEndings = false
        turnEndings.removeAll(keepingCapacity: true)
    }
}
