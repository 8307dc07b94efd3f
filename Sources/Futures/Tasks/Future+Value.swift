extension Future {
    /// The value. Reading this property waits until this future has completed. If this future has failed or
    /// was cancelled, the read throws the error. If this future has completed already, the read does not
    /// suspend. The compiler warns about a value that is not used, even if the method that returned this future has a
    /// discardable result. Write `_ = try await future.value` then.
    ///
    /// Use this property on the loop's thread: in the closure of ``Future/init(on:isolation:_:)``, or in an
    /// actor that has the loop as its executor. While the task waits, ``cancel()`` of this future returns
    /// `false`, because the task needs this future. The wait keeps ``EventLoop/run()`` from returning.
    ///
    /// If the task is cancelled, the wait ends with a `CancellationError`, and this future is asked to
    /// cancel, unless other code waits for it. If the task is cancelled on the loop's thread, the wait ends
    /// at once. Otherwise the wait ends in the loop's next turn. Only the wait for a future that
    /// ``ignoringCancellation()`` has returned goes on to its end.
    public var value: Value {
        // Inlined, so that a waiting task changes executors only twice: to the loop's parking and back.
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

/// The way in which a task gets the outcome of a future.
@usableFromInline
enum Await {
    /// The future has a value, which the task reads at once.
    case completed
    /// The loop started the task for a ``Future/init(on:isolation:_:)``, and the task has begun to wait.
    case parked
    /// The task waits with a cancellation handler of its own, or the future has failed.
    case byTask
}

extension Cell {
    @usableFromInline
    var parking: Parking { pointer.loop.parking }

    /// Begins to wait for the outcome, on behalf of the current task.
    @usableFromInline @inline(never)
    func beginAwait() -> Await {
        let root = checkedRoot
        if root.hasSucceeded {
            root.flags.insert(.isObserved)
            return .completed
        }
        return beginWait(for: root)
    }

    // Not inlined, so that the code for a completed future stays short.
    @inline(never)
    private func beginWait(for root: CellPointer) -> Await {
        pointer.withLoop { loop in
            guard !root.isCompleted else { return .byTask }
            return loop.bodies.withCurrent { body in
                guard body.isCancelled else {
                    body.wait(for: root, on: loop)
                    return .parked
                }
                guard let shield = root.shield else { return .byTask }
                body.wait(for: root, on: loop)
                shield.hearsOfCancelledWait()
                return .parked
            } ?? .byTask
        }
    }

    /// Ends the wait of a body. Throws the error of the wait or of the future.
    @usableFromInline
    func endAwait() throws {
        if let failure = pointer.withLoop({ $0.bodies.takeFailure() }) { throw failure }
        try throwFailure()
    }

    /// Throws the error of a completed future. Does nothing if the future has a value. The error then counts
    /// as handled.
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

    /// Waits until the future has completed. This method is not generic, because a generic one would not be
    /// specialized.
    @usableFromInline
    func wait() async throws {
        if isCompleted { return }
        let loop = loop
        let (observer, ticket) = beginWait()
        await loop.parking.park(.future(observer.pointer), until: WaitCancellation(of: ticket, on: loop))
        if observer.isCompleted { throw observer.pointer.readFailure() }
    }
}
