/// An object that receives the outcomes of many futures. It needs no closure for each future.
package protocol OutcomeListener: AnyObject {
    /// Receives the outcome of the future that belongs to `subject`.
    func didComplete(_ subject: AnyObject, _ result: Result<Void, any Error>)
}

extension Future {
    /// Calls `listener` with the outcome. Takes less memory than ``whenComplete(on:token:_:)``.
    package func whenComplete(tell listener: any OutcomeListener, of subject: AnyObject) {
        cell.observe(ListenerStep(listener: listener, subject: subject), when: .all, on: .default)
    }
}

/// A step that calls a listener. It just fits into the payload of a cell, so it needs no box.
private struct ListenerStep: Step {
    let listener: any OutcomeListener
    let subject: AnyObject

    func run(source: CellPointer, target: CellPointer) {
        listener.didComplete(subject, source.hasSucceeded ? .success(()) : .failure(source.readFailure()))
    }
}
