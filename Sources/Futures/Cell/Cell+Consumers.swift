extension Cell {
    /// Makes `child` a consumer of this cell, which is no link.
    func register(_ child: Cell, when interest: Interest) {
        flags.insert(.isObserved)
        child.interest = interest
        append(child)
    }

    /// The same for a consumer of which nobody hears: it does not count as hearing of a failure unless it wants it.
    func registerObserver(_ child: Cell, when interest: Interest) {
        if interest.contains(.failure) { flags.insert(.isObserved) }
        child.flags.insert(.isObserved)
        child.interest = interest
        append(child)
    }

    private func append(_ child: Cell) {
        child.retain()
        guard state == .pending else { return deliver(to: child) }
        child.source = self
        child.previous = last
        if let last { last.next = child } else { first = child }
        last = child
    }

    /// Takes this cell out of its source's list. Does nothing if it is not in one.
    func detach() {
        guard !flags.contains(.isQueued), let source, source.state == .pending else { return }
        leaveList(of: source)
        release()
    }

    /// The list's reference passes to the caller.
    func leaveList(of source: Cell) {
        self.source = nil
        if let previous { previous.next = next } else { source.first = next }
        if let next { next.previous = previous } else { source.last = previous }
        previous = nil
        next = nil
    }

    var hasConsumers: Bool { state != .linked && first != nil }
}
