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
        attachments.abandoned.append(cell.loop.carrying(body))
        cell.loop.watch(cell.pointer, attachments)
    }
}

extension LoopCore {
    /// Looks at `cell` at the end of each turn, until the cell completes or has been abandoned.
    fileprivate func watch(_ cell: CellPointer, _ attachments: PromiseAttachments) {
        if attachments.watched == nil {
            abandonment.lastNumber += 1
            attachments.watched = (cell, abandonment.lastNumber)
            abandonment.watches[abandonment.lastNumber] = attachments
            abandonment.isWatched = true
        }
        requestTurn()
    }

    /// Queues the handlers of the promises that have been abandoned, in the order in which the watches began.
    func queueAbandoned() {
        let abandoned = abandonment.watches.values.filter { $0.watched!.cell.isAbandoned }
        for attachments in abandoned.sorted(by: { $0.watched!.number < $1.watched!.number }) {
            attachments.stopWatching()
            for handler in exchange(&attachments.abandoned, with: []) { enqueue(handler) }
        }
        if !abandonment.orphanages.isEmpty { cancelForgotten() }
        abandonment.isWatched = !abandonment.watches.isEmpty || !abandonment.orphanages.isEmpty
    }
}
