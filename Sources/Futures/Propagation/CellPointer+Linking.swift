extension CellPointer {
    /// Lets `other`, a future of the same type, decide this cell's outcome.
    ///
    /// A pending `other` that nobody else waits for becomes a link to this cell: what completes it completes this
    /// one. So a loop of `flatMap`s runs in constant memory. It does not become a link if it is a timer, or if this
    /// cell has a producer. The producer has to learn of its end, and links exchange theirs when they are cancelled.
    ///
    /// If this cell has been cancelled meanwhile, asks `other` to cancel: this cell needs it no more.
    @usableFromInline
    func complete(using object: Cell) {
        let other = object.pointer
        let target = root
        let source = other.root
        guard source.isOf(target.loop) else { Misuse.foreignFuture() }
        source.flags.insert(.isObserved)
        guard target.state == .pending else {
            _ = object.requestCancellation()
            return
        }
        guard source != target, !source.waits(for: target) else {
            target.fail(FutureError.cycle)
            return
        }
        if source.isCompleted {
            target.copyOutcome(of: source)
        } else if !source.hasProducer, !source.flags.contains(.isTimed), !source.hasConsumers,
            !target.hasProducer
        {
            target.adopt(source)
        } else {
            target.retain()
            source.register(target, when: [])
        }
    }

    /// Returns whether `other`, further up, decides this cell's outcome.
    fileprivate func waits(for other: CellPointer) -> Bool {
        var cell = self
        while let source = cell.source, source != cell {
            if source == other { return true }
            cell = source
        }
        return false
    }

    /// Links `source` to this cell. If what completes `source` is itself a link to it, leads that link here.
    private func adopt(_ source: CellPointer) {
        let link = source.source
        // First: the link may hold the last reference to it.
        source.setRoot(self)
        if let link, link.state == .linked {
            self.source = link
            link.setRoot(self)
        } else {
            self.source = source
        }
    }
}

extension Future {
    /// Returns whether this is `other`, or follows from it. In that case `other` must not wait for this.
    package func isDecided<Other>(by other: Future<Other>) -> Bool { cell.isDecided(by: other.cell) }
}

extension Cell {
    func isDecided(by other: Cell) -> Bool {
        let (cell, other) = (checkedRoot, other.pointer.root)
        return cell == other || cell.waits(for: other)
    }
}
