/// Steps, values and cells that wait to be released, so that releasing one never recurses into the next.
///
/// A step may hold the last reference to a future, and the step of that future the last reference to the next, a
/// million times over. What is found deep down the stack is moved here, bit by bit, and released from a loop.
final class Graveyard {
    private typealias Remains = (
        behavior: Cell.Behavior.Function, payload: (UInt, UInt, UInt), operation: Cell.Operation
    )

    private var remains: [Remains] = []
    private var cells: [CellPointer] = []

    var isEmpty: Bool { remains.isEmpty && cells.isEmpty }

    /// Moves the content of the cell's payload here.
    func bury(_ cell: CellPointer, _ operation: Cell.Operation) {
        remains.append(unsafe (cell.behavior.body, cell.payload.load(as: (UInt, UInt, UInt).self), operation))
    }

    /// Takes over a reference to a cell.
    func bury(_ cell: CellPointer) {
        cells.append(cell)
    }

    /// Releases what was here, which may bring more.
    func empty(with coffin: Cell) {
        let (remains, cells) = (remains, cells)
        self.remains = []
        self.cells = []
        for (behavior, payload, operation) in remains {
            unsafe coffin.pointer.payload.storeBytes(of: payload, as: (UInt, UInt, UInt).self)
            behavior(operation, coffin.pointer, coffin.pointer)
        }
        for cell in cells { cell.release() }
    }
}

extension Propagation {
    /// How many releases of payloads may be nested on the stack.
    private static let maximumDepth = 16

    /// Moves the payload of the cell into the graveyard, to be released by `finishChange`.
    @inline(never)
    func bury(_ cell: CellPointer, _ operation: Cell.Operation) {
        graveyard.bury(cell, operation)
        hasWorkLeft = true
    }

    /// Releases the content of a dying cell's payload, now if the stack is shallow.
    func releasePayload(of cell: CellPointer, _ operation: Cell.Operation) {
        if releaseDepth < Propagation.maximumDepth {
            releaseDepth += 1
            cell.behavior(operation, cell, cell)
            releaseDepth -= 1
        } else {
            bury(cell, operation)
        }
        finishChange()
    }

    /// Releases the reference to a cell that a dying cell had.
    func release(_ cell: CellPointer) {
        if releaseDepth < Propagation.maximumDepth {
            releaseDepth += 1
            cell.release()
            releaseDepth -= 1
        } else {
            graveyard.bury(cell)
            hasWorkLeft = true
        }
        finishChange()
    }

    func emptyGraveyard() {
        releaseDepth = Propagation.maximumDepth
        let coffin = Cell.plain(loop, state: .pending, of: Void.self)
        while !graveyard.isEmpty { graveyard.empty(with: coffin) }
        releaseDepth = 0
    }
}
