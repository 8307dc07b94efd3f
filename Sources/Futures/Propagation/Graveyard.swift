/// The steps, values and cells that wait to be released. A loop releases them, so that their releases do not
/// nest on the stack.
///
/// A step may hold the last reference to a future. The step of that future may hold the last reference to the
/// next future, and so on, a million times. When too many releases are nested on the stack, the next ones are
/// moved here.
final class Graveyard {
    private typealias Remains = (
        behavior: Cell.Behavior.Function, payload: (UInt, UInt, UInt), operation: Cell.Operation
    )

    private var remains: [Remains] = []
    private var cells: [CellPointer] = []

    var isEmpty: Bool { remains.isEmpty && cells.isEmpty }

    /// Moves the content of the payload of `cell` here. `operation` says how to release the content.
    func bury(_ cell: CellPointer, _ operation: Cell.Operation) {
        remains.append(unsafe (cell.behavior.body, cell.payload.load(as: (UInt, UInt, UInt).self), operation))
    }

    /// Takes over a reference to `cell`, to release it later.
    func bury(_ cell: CellPointer) { cells.append(cell) }

    /// Releases everything that is here now. The releases may add more. `coffin` is an empty cell, whose
    /// payload is used for the releases.
    func empty(with coffin: Cell) {
        let (remains, cells) = (exchange(&self.remains, with: []), exchange(&self.cells, with: []))
        for (behavior, payload, operation) in remains {
            unsafe coffin.pointer.payload.storeBytes(of: payload, as: (UInt, UInt, UInt).self)
            behavior(operation, coffin.pointer, coffin.pointer)
        }
        for cell in cells { cell.release() }
    }
}

extension Propagation {
    /// The number of releases that may be nested on the stack.
    private static let maximumDepth = 16

    /// Moves the content of the payload of `cell` to the graveyard. `finishChange` releases it.
    @inline(never)
    func bury(_ cell: CellPointer, _ operation: Cell.Operation) {
        graveyard.bury(cell, operation)
        hasWorkLeft = true
    }

    /// Releases the content of the payload of `cell`, which is being freed. If too many releases are nested,
    /// moves the content to the graveyard.
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

    /// Releases a reference to `cell` for a cell that is being freed. If too many releases are nested, moves
    /// the reference to the graveyard.
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

    /// Releases everything in the graveyard.
    func emptyGraveyard() {
        releaseDepth = Propagation.maximumDepth
        let coffin = Cell.plain(loop, state: .pending, of: Void.self)
        while !graveyard.isEmpty { graveyard.empty(with: coffin) }
        releaseDepth = 0
    }
}
