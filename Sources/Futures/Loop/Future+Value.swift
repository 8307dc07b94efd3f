extension Future {
    /// The value, or the error thrown. Returns at once if the future has completed, without suspending.
    ///
    /// To be read on the loop's thread, as by an actor whose executor is the loop. While it waits, it is a
    /// consumer and keeps ``EventLoop/run()`` from returning. Cancelling the task ends the wait with a
    /// `CancellationError`, and the future is asked to cancel if nobody else waits for it.
    public var value: Value {
        // Not inlined: the optimizer then looks at the outcome before it goes to the actor that asks, where the thread is
        // checked.
        get async throws {
            if !cell.isCompleted { try await cell.wait() }
            return try cell.takeNotice(of: Value.self)
        }
    }
}

extension CellObject {
    /// Waits until the future has completed. Of no type but its own: what is generic here is not specialized.
    fileprivate func wait(isolation: isolated (any Actor)? = #isolation) async throws {
        let loop = loop
        let (observer, ticket) = beginWait()
        await withTaskCancellationHandler {
            // A closure that mentions the isolation runs in it.
            _ = isolation
            if Task.isCancelled { loop.endWait(ticket, with: CancellationError()) }
            await loop.parking.park(observer)
        } onCancel: {
            loop.execute { loop.endWait(ticket, with: CancellationError()) }
        }
        if observer.isCompleted { throw observer.cell.readFailure() }
    }

    /// The value of a completed future, or its error, which has been heard of by that.
    fileprivate func takeNotice<Value>(of _: Value.Type) throws -> Value {
        let root = checkedRoot
        root.flags.insert(.isObserved)
        guard root.hasSucceeded else { throw root.readFailure() }
        return root.readSlot(as: Value.self)
    }
}
