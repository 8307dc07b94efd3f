/// Steps, values and cells that wait to be released, so that releasing one never recurses into the next.
///
/// A step may hold the last reference to a future whose step holds the last reference to the next, a million
/// times over. What is found deep down the stack is moved here, bit by bit, and released from a loop.
final class Graveyard {
    private typealias Remains = (behavior: Cell.Behavior.Body, slot: (UInt, UInt, UInt), event: Cell.Event)

    private var remains: [Remains] = []
    private var cells: [Cell] = []

    var isEmpty: Bool { remains.isEmpty && cells.isEmpty }

    /// Moves the content of the cell's slot here.
    func bury(_ cell: Cell, _ event: Cell.Event) {
        remains.append(unsafe (cell.behavior.body, cell.slot.load(as: (UInt, UInt, UInt).self), event))
    }

    /// Takes over a reference to a cell.
    func bury(_ cell: Cell) {
        cells.append(cell)
    }

    /// Releases what was here, which may bring more.
    func empty(with coffin: CellObject) {
        let (remains, cells) = (remains, cells)
        self.remains = []
        self.cells = []
        for (behavior, slot, event) in remains {
            unsafe coffin.cell.slot.storeBytes(of: slot, as: (UInt, UInt, UInt).self)
            behavior(event, coffin.cell, coffin.cell)
        }
        for cell in cells { cell.release() }
    }
}

extension LoopCore {
    /// How many releases of slots may be nested on the stack.
    private static let maximumDepth = 16

    /// Moves the content of the cell's slot into the graveyard, to be released by `releaseTheDead`.
    @inline(never)
    func bury(_ cell: Cell, _ event: Cell.Event) {
        graveyard.bury(cell, event)
        hasTheDead = true
    }

    /// Releases the content of a dying cell's slot, now if the stack is shallow.
    func releaseSlot(of cell: Cell, _ event: Cell.Event) {
        if releaseDepth < LoopCore.maximumDepth {
            releaseDepth += 1
            cell.behavior(event, cell, cell)
            releaseDepth -= 1
        } else {
            bury(cell, event)
        }
        releaseTheDead()
    }

    /// Releases the reference to a cell that a dying cell had.
    func release(_ cell: Cell) {
        if releaseDepth < LoopCore.maximumDepth {
            releaseDepth += 1
            cell.release()
            releaseDepth -= 1
        } else {
            graveyard.bury(cell)
            hasTheDead = true
        }
        releaseTheDead()
    }

    /// Releases what is buried, and runs what is to run at once, unless a caller further up does.
    @inline(__always)
    func releaseTheDead() {
        if hasTheDead, releaseDepth == 0, !isDistributing { finishChange() }
    }

    @inline(never)
    private func finishChange() {
        if !graveyard.isEmpty { emptyGraveyard() }
        // What may not run yet is looked for again.
        hasTheDead = contexts.holds > 0 && !contexts.immediate.isEmpty
        if !tokenActions.isEmpty { runTokenActions() }
        runImmediate()
    }

    private func emptyGraveyard() {
        releaseDepth = LoopCore.maximumDepth
        let coffin = CellObject.plain(self, state: .pending, of: Void.self)
        while !graveyard.isEmpty { graveyard.empty(with: coffin) }
        releaseDepth = 0
    }
}
