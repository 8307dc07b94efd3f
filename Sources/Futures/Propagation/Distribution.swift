extension Propagation {
    /// Hands on the outcome of a cell that has several consumers, or some that the outcome passes through.
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

    /// Hands on the outcomes of cells that have completed meanwhile.
    @inline(never)
    private func distributeOthers() {
        var index = 0
        while unsafe index < passingOn.count {
            let current = unsafe passingOn[index]
            index += 1
            current.distributeConsumers()
            // Not by the array: code of users runs in this, and may add to the array.
            current.release()
            // Now and then, and no more at a time than have been dealt with.
            if index >= 1024, unsafe index >= passingOn.count / 2 {
                unsafe passingOn.removeFirst(index)
                index = 0
            }
        }
        unsafe passingOn.removeAll(keepingCapacity: true)
    }
}
