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

    /// Returns the future that `body` returns. If `body` throws, returns a future that has failed with the error.
    @inlinable
    package func attempt<Value>(_ body: () throws -> Future<Value>) -> Future<Value> {
        do { return try body() } catch { return failed(error) }
    }

    /// Returns a future that has failed with `error`. The report of an unhandled failure names `subject`.
    package func failed<Value>(_ error: any Error, subject: String) -> Future<Value> {
        let cell = Cell.plain(core, state: .pending, of: Value.self)
        cell.pointer.fail(error, of: subject)
        return Future(cell)
    }
}

extension LoopCore {
    /// Makes a promise for a future that several users share. A user who cancels the future does not end it
    /// for the others. If nobody observes the future, its failure is not reported.
    package func makeSharedPromise() -> Promise<Void> { makeSharedPromise(of: Void.self) }

    package func makeSharedPromise<Value>(of _: Value.Type) -> Promise<Value> {
        let promise = makePromise(of: Value.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { .continue }
        return promise
    }

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
