extension EventLoop {
    /// Returns a future that stays pending until it is cancelled or the loop is shut down. The future does
    /// not keep ``run()`` from returning.
    ///
    /// The returned future is released when no code holds it. After this release, a future that is derived
    /// from it may still be pending. The derived future stays pending while code holds it, or observes it
    /// with a `when…`, an `await` or a group. After that, one of the next turns of the loop cancels the
    /// derived future.
    ///
    /// ```swift
    /// let limit = names.isEmpty ? loop.never() : loop.sleep(for: .seconds(5))
    /// let page = fetch("index").abort(when: [limit])
    /// ```
    public func never<Value>(of _: Value.Type = Value.self) -> Future<Value> {
        core.checkThread()
        guard !core.isShutDown else { return failed(FutureError.shutDown) }
        let cell = Cell.plain(core, state: .pending, of: Value.self)
        cell.belong(to: Forever())
        return Future(cell)
    }

}

extension LoopCore {
    /// Cancels the consumers of released `never()` futures, if nobody holds these consumers or listens to
    /// them.
    func cancelForgotten() {
        var (unseen, budget) = (abandonment.orphanages.count, 64)
        while unseen > 0, budget > 0, let forever = abandonment.orphanages.takeFirst() {
            unseen -= 1
            if forever.isForgotten {
                forever.cancel()
            } else if forever.isPending {
                budget -= 1
                abandonment.orphanages.append(forever)
            }
        }
    }
}

/// The producer of a future that nothing completes.
final class Forever: Producer {
    /// The cell that has taken over the consumers of the released future. `nil` while the future exists.
    private var heir: Cell?
    /// The number of checks to skip. It grows with the number of consumers, so that long checks are rare.
    private var patience = 0

    override var nameInSnapshot: String? { "never(), which nothing completes" }

    override func settled() { heir = nil }

    /// Continues without the future, which has been released. `heir` has taken over the future's consumers.
    func adopt(_ heir: Cell) {
        self.heir = heir
        heir.belong(to: self)
        let loop = heir.loop
        loop.abandonment.orphanages.append(self)
        loop.abandonment.isWatched = true
        loop.requestTurn()
    }

    fileprivate var isPending: Bool { heir != nil }

    fileprivate func cancel() { heir?.fail(CancellationError()) }

    /// Whether nobody would notice the end of the consumers. Also `false` for each check that is skipped.
    fileprivate var isForgotten: Bool {
        guard let heir else { return false }
        guard patience == 0 else {
            patience -= 1
            return false
        }
        let (isForgotten, visits) = heir.pointer.areConsumersForgotten()
        patience = visits / 16
        return isForgotten
    }
}

extension CellPointer {
    /// Returns whether nobody holds the consumers of this cell or listens to them. Counts indirect consumers
    /// too. `visits` is the number of consumers that were checked.
    fileprivate func areConsumersForgotten() -> (Bool, visits: Int) {
        var (visits, cells) = (0, [self])
        while let cell = cells.popLast() {
            var consumer = cell.rootLink ?? cell.first
            while let current = consumer {
                visits += 1
                if !current.isHeldBySource || current.interest.contains(.listens) { return (false, visits) }
                cells.append(current)
                consumer = cell.state == .linked ? nil : current.next
            }
        }
        return (true, visits)
    }
}
