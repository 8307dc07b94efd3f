/// The list of the cells of a loop's pending promises, which `shutdown()` fails. The cells are linked by
/// `previous` and `next`. The list owns no reference to them.
struct PromiseList {
    private(set) var first: CellPointer?

    var isEmpty: Bool { first == nil }

    mutating func add(_ cell: CellPointer) {
        cell.flags.insert(.isListed)
        cell.next = first
        if let first = first { first.previous = cell }
        first = cell
    }

    mutating func remove(_ cell: CellPointer) {
        cell.flags.remove(.isListed)
        let (before, after) = (cell.previous, cell.next)
        if let before { before.next = after } else { first = after }
        if let after { after.previous = before }
        cell.previous = nil
        cell.next = nil
    }

    /// The cells. The array does not hold them.
    var all: [CellPointer] { first.map { Array($0.list) } ?? [] }
}

extension LoopCore {
    /// Fails the futures of all pending promises with `error`.
    func failPromises(_ error: any Error) {
        while let cell = promises.first {
            promises.remove(cell)
            // `object` holds the cell: its producer may be the only owner, and the producer is released in
            // this call.
            cell.object.fail(error)
        }
    }
}
