/// Hears of the outcomes of many futures, without a closure for each.
package protocol OutcomeListener: AnyObject {
    /// The future of `subject` has completed.
    func didComplete(_ subject: AnyObject, _ result: Result<Void, any Error>)
}

extension Future {
    /// Tells `listener` of the outcome as ``whenComplete(on:token:_:)`` would, in less memory.
    package func whenComplete(tell listener: any OutcomeListener, of subject: AnyObject) {
        cell.observe(ListenerStep(listener: listener, subject: subject), when: .all, on: .default)
    }
}

/// As large as the payload of a cell, which so needs no box.
private struct ListenerStep: Step {
    let listener: any OutcomeListener
    let subject: AnyObject

    func run(source: CellPointer, target: CellPointer) {
        listener.didComplete(subject, source.hasSucceeded ? .success(()) : .failure(source.readFailure()))
    }

    typealias Output = Void
}
