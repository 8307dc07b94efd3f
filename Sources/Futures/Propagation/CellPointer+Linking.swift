extension CellPointer {
    /// Completes this cell with the outcome of `object`, a cell of the same type, now or later.
    ///
    /// If `object` is pending and nothing else waits for it, `object` is linked to this cell: what completes
    /// `object` then completes this cell. Therefore a loop of `flatMap`s runs in constant memory. A timer is
    /// not linked. A cell with a producer takes no part in a new link: a cancellation exchanges the producers
    /// of linked cells, but this producer has to hear of the end of its own cell.
    ///
    /// If this cell has completed or been cancelled before, asks `object` to cancel.
    @usableFromInline
    func complete(using object: Cell) { withExtendedLifetime(object) { complete(using: object.pointer) } }

    /// Does the same for a cell that the caller has no further use for. Mostly the caller holds the only reference, and
    /// then its release needs no atomic operation.
    @usableFromInline
    func complete(usingOnly object: consuming Cell) {
        let other = CellPointer(givenAway: object)
        complete(using: other)
        other.release()
    }

    private func complete(using other: CellPointer) {
        let target = root
        let source = other.root
        guard source.isOf(target.loop) else { Misuse.foreignFuture() }
        source.flags.insert(.isObserved)
        guard target.state == .pending else {
            _ = other.object.requestCancellation()
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

    /// Returns whether this cell waits for `other`, directly or by way of other cells.
    func waits(for other: CellPointer) -> Bool {
        var cell = self
        while let source = cell.source, source != cell {
            if source == other { return true }
            cell = source
        }
        return false
    }

    /// Links `source` to this cell. If another cell is linked to `source`, links that cell to this cell, too.
    private func adopt(_ source: CellPointer) {
        let link = source.source
        // This comes first, because `link` may hold the last reference to `source`.
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
    /// Returns this future, which was passed to an object of `loop`. Traps if it belongs to another loop.
    package func given(to loop: LoopCore) -> Future {
        guard cell.pointer.isOf(loop) else { Misuse.foreignFuture() }
        return self
    }

    /// Whether this future, which was passed to an object of `loop`, has succeeded. Traps if it belongs to another
    /// loop. Costs no check of the thread: the caller is on that of `loop`.
    package func hasSucceeded(on loop: LoopCore) -> Bool {
        guard cell.pointer.isOf(loop) else { Misuse.foreignFuture() }
        return cell.isSuccess
    }

    /// Returns whether this future is `other`, or waits for `other`. If so, `other` must not wait for this
    /// future.
    package func isDecided<Other>(by other: Future<Other>) -> Bool { cell.isDecided(by: other.cell) }
}

extension Cell {
    func isDecided(by other: Cell) -> Bool {
        let (cell, other) = (checkedRoot, other.pointer.root)
        return cell == other || cell.waits(for: other)
    }
}
