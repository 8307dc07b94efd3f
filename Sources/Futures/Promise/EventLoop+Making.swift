extension EventLoop {
    /// Creates a promise of this loop. The ``Promise/future`` of the promise is pending. If the promise is
    /// released before that future has completed, the future fails with
    /// ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
    @inlinable
    public func makePromise<Value>(
        of _: Value.Type = Value.self, file: StaticString = #fileID, line: UInt = #line
    ) -> Promise<Value> { Promise(self, file: file, line: line) }

    /// Returns a future that has completed with `value`.
    @inlinable
    public func succeeded<Value>(_ value: Value) -> Future<Value> {
        let cell = withCore { core in
            core.checkThread()
            return Cell.plain(core, state: .success, of: Value.self)
        }
        cell.initializePayload(value)
        return Future(cell)
    }

    /// Returns a future that has completed with `Void`. While the loop runs, all calls return one and the
    /// same future.
    public func succeeded() -> Future<Void> { withCore { Future($0.takeCompletedVoid()) } }

    /// Returns a future that has failed with `error`. If `error` represents cancellation, the future is
    /// cancelled instead.
    @inlinable
    public func failed<Value>(_ error: any Error, of _: Value.Type = Value.self) -> Future<Value> {
        let cell = withCore { Cell.plain($0, state: .pending, of: Value.self) }
        cell.fail(error)
        return Future(cell)
    }

    /// Returns a future that has failed with `error`. The report of an unhandled failure names `subject`.
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
        if turnState.isRunning || turnState.isTurning { completedVoid = cell }
        return cell
    }
}
