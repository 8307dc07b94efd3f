extension Cell {
    /// Asks for this future not to be needed any more; `false` if it has completed or somebody else waits for it.
    ///
    /// Climbs to the cell that decides: the first with a producer that answers, or the last that nobody else
    /// waits for. Without an answer everything from there down to this cell is cancelled now, upstream first.
    func requestCancellation(ignoringConsumers: Bool = false) -> Bool {
        guard state == .pending, ignoringConsumers || !hasConsumers else { return false }
        var decided: CellObject?
        var top = self
        while true {
            if let producer = top.producer, top != decided?.cell {
                let object = top.object
                switch producer.cancellationRequested(by: top) {
                case .willComplete:
                    return true
                case .cancel:
                    // The producer may be anybody's code: the way up may have changed meanwhile.
                    guard state == .pending else { return true }
                    decided = object
                    top = self
                    continue
                case .undecided:
                    break
                }
            }
            guard top != decided?.cell, let above = top.source, above.isAloneAbove(top) else { break }
            top = above
        }
        cancelPath(from: top)
        return true
    }

    private func isAloneAbove(_ cell: Cell) -> Bool {
        switch state {
        case .linked: true
        case .pending: first == cell && last == cell
        default: false
        }
    }

    /// Cancels the cells from `top` down to this one. Each has no other consumer than the next.
    private func cancelPath(from top: Cell) {
        var cell = top
        cell.retain()
        cell.detach()
        if cell.runsAfterCancel, !cell.flags.contains(.isQueued) { loop.enqueue(cell.object) }
        while !cell.isCompleted {
            let below = cell == self ? nil : cell.first
            below?.retain()
            cell.cancelNow(before: below)
            cell.release()
            guard let below else { return }
            cell = below
        }
        cell.release()
    }

    /// Cancels this cell. Its consumer `next` is cancelled afterwards; all others hear of it as of any outcome.
    private func cancelNow(before next: Cell?) {
        if state == .linked {
            // Its root comes next. The step that would have completed it is not to run, and its producer, whose
            // release may be that of the promise, is released after the root has been cancelled.
            let root = first!
            root.source = nil
            (root.producer, producer) = (producer, root.producer)
        } else if let next {
            next.leaveList(of: self)
            if next.runsAfterCancel {
                withLoop { $0.enqueue(next, source: self) }
            } else {
                next.release()
            }
        }
        if !runsAfterCancel { dropStep() }
        if state == .pending { settle(as: .cancelled) }
    }

    private var runsAfterCancel: Bool { flags.contains(.hasStep) && interest.contains(.afterCancel) }

    /// Stops waiting for the source, which is asked to cancel if nobody else waits for it.
    func leaveSource(cancelling: Bool) {
        guard let source else { return }
        source.retain()
        detach()
        if cancelling {
            withLoop { $0.requestCancellation(of: source) }
        } else {
            source.release()
        }
    }
}

extension EventLoop {
    /// Asks `cell` to cancel, and releases the reference to it. Requests of producers that wait for others, which
    /// wait for others, are a list of work, so that none of them recurses into the next.
    fileprivate func requestCancellation(of cell: Cell) {
        cancelRequests.append(cell)
        guard !isCancelling else { return }
        isCancelling = true
        while let cell = cancelRequests.popLast() {
            _ = cell.requestCancellation()
            cell.release()
        }
        isCancelling = false
    }
}
