extension Propagation {
    /// Hands the outcome of `cell` to its consumers. If another distribution is in progress, that
    /// distribution does it later.
    func distribute(_ cell: CellPointer) {
        guard !isDistributing else {
            cell.retain()
            return unsafe passingOn.append(cell)
        }
        isDistributing = true
        cell.distributeConsumers()
        if unsafe !passingOn.isEmpty { distributeOthers() }
        isDistributing = false
    }

    /// Hands on the outcomes of the cells that have completed during the distribution.
    @inline(never)
    private func distributeOthers() {
        var index = 0
        while unsafe index < passingOn.count {
            let current = unsafe passingOn[index]
            index += 1
            current.distributeConsumers()
            // The array must not release the cell: a release runs code of users, which may add to the array.
            current.release()
            // Removes the cells that have been dealt with, when they are many and at least half of the array.
            if index >= 1024, unsafe index >= passingOn.count / 2 {
                unsafe passingOn.removeFirst(index)
                index = 0
            }
        }
        unsafe passingOn.removeAll(keepingCapacity: true)
    }
}
