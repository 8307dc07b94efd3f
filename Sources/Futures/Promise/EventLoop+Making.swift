extension EventLoop {
    /// A promise of this loop, and by its ``Promise/future`` a pending future. `file` and `line` are reported
    /// if it is released uncompleted.
    @inlinable
    public func makePromise<Value>(
        of _: Value.Type = Value.self, file: StaticString = #fileID, line: UInt = #line
    ) -> Promise<Value> {
        Promise(self, file: file, line: line)
    }

    /// A future that has completed with `value`.
    @inlinable
    public func succeeded<Value>(_ value: Value) -> Future<Value> {
        let cell = withCore { core in
            core.checkThread()
            return Cell.plain(core, state: .success, of: Value.self)
        }
        cell.initializePayload(value)
        return Future(cell)
    }

    /// A future that has completed. One and the same for all calls while the loop runs, so it costs nothing.
    public func succeeded() -> Future<Void> {
        withCore { Future($0.takeCompletedVoid()) }
    }

    /// A future that has failed with `error`, or is cancelled if `error` stands for cancellation.
    @inlinable
    public func failed<Value>(_ error: any Error, of _: Value.Type = Value.self) -> Future<Value> {
        let cell = withCore { Cell.plain($0, state: .pending, of: Value.self) }
        cell.fail(error)
        return Future(cell)
    }

    /// The same, with what has failed for the line that is printed if nobody hears of it.
    package func failed<Value>(_ error: any Error, subject: String) -> Future<Value> {
        let cell = Cell.plain(core, state: .pending, of: Value.self)
        cell.pointer.fail(error, of: subject)
        return Future(cell)
    }
}

extension LoopCore {
    fileprivate func takeCompletedVoid() -> Cell {
        checkThread()
        return completedVoid ?? makeCompletedVoid()
    }

    @inline(never)
    private func makeCompletedVoid() -> Cell {
        let cell = Cell.plain(self, state: .success, of: Void.self)
        if isRunning || isTurning { completedVoid = cell }
        return cell
    }
}
