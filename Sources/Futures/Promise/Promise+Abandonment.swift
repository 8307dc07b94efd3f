extension Promise {
    /// Calls `body`, which can stop the work, when no code needs the outcome any more. The outcome is not
    /// needed any more when the future is pending, no code holds the future, and no code waits for the
    /// future. Releases `body` when the future completes.
    ///
    /// Each time the loop has run its ready callbacks, it looks at each promise with such a handler. Promises
    /// without such a handler take no additional time. After the call of `body`, you can still use
    /// ``future``, and complete the promise.
    ///
    /// ```swift
    /// promise.onAbandoned { connection.abort() }
    /// ```
    public func onAbandoned(_ body: @escaping () -> Void) {
        guard let attachments else { return }
        attachments.abandoned.append(body)
        cell.loop.watch(cell.pointer, attachments)
    }
}

/// A producer with handlers to call when its future has been abandoned.
class AbandonmentWatch: Producer {
    final var abandoned: [() -> Void] = []
    fileprivate final var loop: LoopCore?
    fileprivate final var number: UInt64 = 0

    override func settled() {
        abandoned = []
        loop?.abandonment.watches[number] = nil
        loop = nil
    }
}

/// A pending cell, and its producer with handlers. The producer removes this record before `cell` is freed.
struct WatchedCell {
    fileprivate let cell: CellPointer
    fileprivate let watch: AbandonmentWatch
}

extension LoopCore {
    /// Looks at `cell` at the end of each turn, until the cell completes or has been abandoned.
    fileprivate func watch(_ cell: CellPointer, _ watch: AbandonmentWatch) {
        if watch.loop == nil {
            abandonment.lastNumber += 1
            (watch.loop, watch.number) = (self, abandonment.lastNumber)
            abandonment.watches[watch.number] = WatchedCell(cell: cell, watch: watch)
            abandonment.isWatched = true
        }
        requestTurn()
    }

    /// Queues the handlers of the promises that have been abandoned, in the order in which the watches began.
    func queueAbandoned() {
        let abandoned = abandonment.watches.values.filter { $0.cell.isAbandoned }
        for watched in abandoned.sorted(by: { $0.watch.number < $1.watch.number }) {
            let handlers = watched.watch.abandoned
            watched.watch.abandoned = []
            abandonment.watches[watched.watch.number] = nil
            watched.watch.loop = nil
            for handler in handlers { enqueue(handler) }
        }
        if !abandonment.orphanages.isEmpty { cancelForgotten() }
        abandonment.isWatched = !abandonment.watches.isEmpty || !abandonment.orphanages.isEmpty
    }
}
