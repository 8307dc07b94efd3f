/// The list of a loop's pending promises, for `shutdown()` to fail. It links them by `previous` and `next`, and owns
/// none.
struct PromiseList {
    private var first: CellPointer?

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

    func visit(_ body: (CellPointer) -> Void) {
        var cell = first
        while let current = cell {
            body(current)
            cell = current.next
        }
    }

    /// One of the promises, or `nil`.
    var any: CellPointer? { first }
}

extension LoopCore {
    func failPromises(_ error: any Error) {
        while let cell = promises.any {
            promises.remove(cell)
            // Held: it may belong to nothing but its producer, which ends with it.
            cell.object.fail(error)
        }
    }
}
