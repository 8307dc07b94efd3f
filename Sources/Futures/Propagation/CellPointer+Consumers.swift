extension CellPointer {
    // The list takes over a reference to each consumer.

    /// Makes `child`, which is no link, a consumer of this cell.
    func register(_ child: CellPointer, when interest: Interest) {
        flags.insert(.isObserved)
        child.place(interest)
        append(child)
    }

    /// Makes `child` a consumer with an outcome of its own that nobody has to see. It only counts as observing a
    /// failure if it wants it.
    func registerObserver(_ child: CellPointer, when interest: Interest) {
        if !interest.isDisjoint(with: [.failure, .atOnce]) { flags.insert(.isObserved) }
        child.flags.insert(.isObserved)
        child.place(interest.union(.listens))
        append(child)
    }

    /// Sets which outcomes run this cell's step, and on which context, which is looked up now.
    @inline(__always)
    func place(_ interest: Interest) {
        self.interest = withLoop { interest.placed(by: $0.contexts.inherited) }
    }

    private func append(_ child: CellPointer) {
        guard state == .pending else { return deliverAtOnce(to: child) }
        child.source = self
        child.previous = last
        if let last { last.next = child } else { first = child }
        last = child
    }

    // Apart, which makes the way past it shorter.
    @inline(never)
    private func deliverAtOnce(to child: CellPointer) {
        deliver(to: child)
        withLoop { $0.propagation.finishChange() }
    }

    /// Takes this cell out of its source's list. Does nothing if it is not in one.
    func detach() {
        // The list of a completed source holds those to whom its outcome has not been handed on yet.
        guard !flags.contains(.isQueued), let source, source.state != .linked else { return }
        leaveList(of: source)
        release()
    }

    /// Leaves the list. The list's reference passes to the caller.
    func leaveList(of source: CellPointer) {
        self.source = nil
        if let previous { previous.next = next } else { source.first = next }
        if let next { next.previous = previous } else { source.last = previous }
        previous = nil
        next = nil
    }

    func moveToFront(_ child: CellPointer) {
        guard let first, first != child else { return }
        child.leaveList(of: self)
        child.source = self
        child.next = first
        first.previous = child
        self.first = child
    }

    /// The number of consumers of a pending cell.
    var consumerCount: Int {
        var count = 0
        var consumer = first
        while let waiting = consumer {
            count += 1
            consumer = waiting.next
        }
        return count
    }

    var hasConsumers: Bool { state != .linked && first != nil }
}
