/// An object that receives the outcomes of many futures. It needs no closure for each future.
package protocol OutcomeListener: AnyObject {
    /// Receives the outcome of the future that belongs to `subject`.
    func didComplete(_ subject: AnyObject, _ result: Result<Void, any Error>)
}

extension Future {
    /// Calls `listener` with the outcome. Takes less memory than ``whenComplete(on:token:_:)``.
    @discardableResult
    package func whenComplete(tell listener: any OutcomeListener, of subject: AnyObject) -> OutcomeWait {
        let step = ListenerStep(listener: listener, subject: subject)
        return OutcomeWait(observer: cell.observe(step, when: .all, on: .default))
    }
}

/// The wait of a listener for the outcome of a future.
package struct OutcomeWait {
    fileprivate let observer: Cell

    /// Asks the future to cancel, although the listener waits for it.
    package func cancel() { _ = observer.pointer.source?.object.requestCancellation(.evenIfOthersWaiting) }

    /// Whether the future waits only for `object`: the owner of a promise, or the object that a body has asked. Other
    /// futures and bodies may stand in between.
    ///
    /// If a wait begins within a callback, it is linked to the future when the callback has returned. So ask after
    /// that.
    package func isOnly(for object: AnyObject) -> Bool {
        var cell = observer.pointer
        // Bodies may wait for each other in a circle.
        for _ in 0..<1000 {
            // The root of a linked cell would lead back.
            if let source = cell.source, source != cell {
                cell = source
                continue
            }
            switch cell.producer?.awaited {
            case .cell(let next): cell = next
            case .object(let last): return last === object
            case nil: return false
            }
        }
        return false
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
