extension Future {
    /// Waits for the outcome, and returns the value or throws the error. Does not suspend if this future has
    /// completed already.
    ///
    /// Use this property on the loop's thread: in a body of the loop, or in an actor that has the loop as its
    /// executor. The wait counts as a consumer of this future, and keeps ``EventLoop/run()`` from returning.
    ///
    /// If the task is cancelled, the wait ends with a `CancellationError`, and this future is asked to cancel unless
    /// something else waits for it. That happens at once if the task is cancelled on the loop's thread, otherwise in
    /// the loop's next turn.
    public var value: Value {
        // Inlined, so that a task goes from where it waits to the loop and back, and nowhere in between.
        @inlinable @inline(__always)
        get async throws {
            switch cell.beginAwait() {
            case .completed: break
            case .parked:
                await cell.parking.stay()
                try cell.endAwait()
            case .byTask:
                try await cell.wait()
                try cell.throwFailure()
            }
            return cell.readValue(as: Value.self)
        }
    }
}

/// What to do for a task that wants the outcome of a future.
@usableFromInline
enum Await {
    /// There is a value.
    case completed
    /// The task is a body of the loop, and has begun to wait.
    case parked
    /// Another task waits with its own cancellation handler. So does a task that gets an error.
    case byTask
}

extension Cell {
    @usableFromInline
    var parking: Parking { pointer.loop.parking }

    @usableFromInline @inline(never)
    func beginAwait() -> Await {
        let root = checkedRoot
        if root.hasSucceeded {
            root.flags.insert(.isObserved)
            return .completed
        }
        return pointer.withLoop { loop in
            guard !root.isCompleted, let body = loop.bodies.current, !body.isCancelled else { return .byTask }
            body.wait(for: self)
            return .parked
        }
    }

    /// Goes on with a body.
    @usableFromInline
    func endAwait() throws {
        if let failure = pointer.withLoop({ unsafe $0.bodies.current?.failure.take() }) { throw failure }
        try throwFailure()
    }

    /// Throws the error of a completed future, which counts as observed then.
    @usableFromInline
    func throwFailure() throws {
        let root = checkedRoot
        root.flags.insert(.isObserved)
        if !root.hasSucceeded { throw root.readFailure() }
    }

    @inlinable
    func readValue<Value>(as _: Value.Type) -> Value {
        withExtendedLifetime(self) { checkedRoot.readPayload(as: Value.self) }
    }

    /// Waits until the future has completed. Has no type but its own: what is generic here is not specialized.
    @usableFromInline
    func wait(isolation: isolated (any Actor)? = #isolation) async throws {
        if isCompleted { return }
        let loop = loop
        let (observer, ticket) = beginWait()
        await withTaskCancellationHandler {
            // A closure that mentions the isolation runs in it.
            _ = isolation
            if Task.isCancelled { loop.endWait(ticket, with: CancellationError()) }
            await loop.parking.park(observer)
        } onCancel: {
            loop.executeAtOnce { loop.endWait(ticket, with: CancellationError()) }
        }
        if observer.isCompleted { throw observer.pointer.readFailure() }
    }
}
