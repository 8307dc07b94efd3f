extension CellPointer {
    // The list takes over the caller's reference to each consumer.

    /// Makes `child` a consumer of this cell. `child` must not be linked.
    func register(_ child: CellPointer, when interest: Interest) {
        flags.insert(.isObserved)
        child.place(interest)
        append(child)
    }

    /// Makes `child` an observer of this cell: a consumer whose own outcome nothing needs. A failure of this
    /// cell counts as handled only if `interest` contains `failure` or `atOnce`.
    func registerObserver(_ child: CellPointer, when interest: Interest) {
        if !interest.isDisjoint(with: [.failure, .atOnce]) { flags.insert(.isObserved) }
        child.flags.insert(.isObserved)
        child.place(interest.union(.listens))
        append(child)
    }

    /// Makes `child` an observer for all outcomes, which runs from the ready queue. Its step calls no closure of
    /// users, so it carries no values.
    func registerOwn(_ child: CellPointer) {
        flags.insert(.isObserved)
        child.flags.insert(.isObserved)
        child.interest = [.all, .listens]
        append(child)
    }

    /// Sets the outcomes that run this cell's step, and the context that the step runs on. Looks up the
    /// contexts `default` and `current` now, and the values of task-locals that the step carries.
    @inline(__always)
    func place(_ interest: Interest) {
        let inherited = withLoop { $0.contexts.inherited }
        self.interest = interest.placed(by: inherited)
        if inherited.contains(.carries) { takeValues() }
    }

    private func append(_ child: CellPointer) {
        guard state == .pending else { return deliverAtOnce(to: child) }
        child.source = self
        child.previous = last
        if let last { last.next = child } else { first = child }
        last = child
    }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    private func deliverAtOnce(to child: CellPointer) {
        deliver(to: child)
        withLoop { $0.propagation.finishChange() }
    }

    /// Removes this cell from its source's list, and releases the list's reference. Does nothing if the cell
    /// is in no list.
    func detach() {
        // A completed source has a list, too: the consumers that have not got the outcome yet.
        guard !flags.contains(.isQueued), let source, source.state != .linked else { return }
        leaveList(of: source)
        release()
    }

    /// Removes this cell from the list of `source`. The caller takes over the list's reference.
    func leaveList(of source: CellPointer) {
        self.source = nil
        if let previous { previous.next = next } else { source.first = next }
        if let next { next.previous = previous } else { source.last = previous }
        previous = nil
        next = nil
    }

    /// Makes `child`, a consumer of this cell, the first consumer.
    func moveToFront(_ child: CellPointer) {
        guard let first, first != child else { return }
        child.leaveList(of: self)
        child.source = self
        child.next = first
        first.previous = child
        self.first = child
    }

    /// The number of consumers of a pending cell.
    var consumerCount: Int { first?.listCount ?? 0 }

    /// This cell and the cells after it in its list.
    var list: UnfoldFirstSequence<CellPointer> { sequence(first: self) { $0.next } }

    /// The number of cells from this one to the end of its list.
    var listCount: Int { list.reduce(0) { count, _ in count + 1 } }

    var hasConsumers: Bool { state != .linked && first != nil }
}

extension Cell {
    /// Ends an observer that waits for its source, or that waits in the ready queue.
    func stopObserving(cancelling: Bool) {
        pointer.dropStep()
        pointer.leaveSource(cancelling: cancelling)
        loop.propagation.finishChange()
    }
}
