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
        var endings: [any TurnEnding] = []
        swap(&endings, &turnEndings)
        turnState.hasEndings = false
        for ending in endings { ending.turnEnds() }
        guard turnEndings.isEmpty else { return }
        // The memory is used again.
        endings.removeAll(keepingCapacity: true)
        swap(&endings, &turnEndings)
    }
}
