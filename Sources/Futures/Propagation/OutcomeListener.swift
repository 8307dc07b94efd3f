/// Receives the outcomes of many futures, without a closure for each.
package protocol OutcomeListener: AnyObject {
    /// Called when the future of `subject` has completed.
    func didComplete(_ subject: AnyObject, _ result: Result<Void, any Error>)
}

extension Future {
    /// Tells `listener` the outcome like ``whenComplete(on:token:_:)``, in less memory.
    package func whenComplete(tell listener: any OutcomeListener, of subject: AnyObject) {
        cell.observe(ListenerStep(listener: listener, subject: subject), when: .all, on: .default)
    }
}

/// A step as large as the payload of a cell, so that it needs no box.
private struct ListenerStep: Step {
    let listener: any OutcomeListener
    let subject: AnyObject

    func run(source: CellPointer, target: CellPointer) {
        listener.didComplete(subject, source.hasSucceeded ? .success(()) : .failure(source.readFailure()))
    }

    typealias Output = Void
}
