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
        // One ending may bring another: a stream sends what it has gathered to a stream that gathers, too. A few times, since
        // callbacks may go on like that: the rest waits for the next turn.
        for _ in 0..<4 where turnState.hasEndings {
            var endings: [any TurnEnding] = []
            swap(&endings, &turnEndings)
            turnState.hasEndings = false
            for ending in endings { ending.turnEnds() }
            // An object that ends here may ask for another ending. The memory is used again.
            endings.removeAll(keepingCapacity: true)
            if turnEndings.isEmpty { swap(&endings, &turnEndings) }
        }
    }
}
