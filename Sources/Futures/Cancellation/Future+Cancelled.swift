extension Future {
    /// Passes the outcome on, but fails with ``FutureError/cancellationAsFailure`` if this future is cancelled, so that
    /// error handlers see it. Cancelling the returned future itself cancels it as usual.
    ///
    /// ```swift
    /// let page = fetch("index").cancellationAsFailure().recover { _ in Data() }
    /// ```
    public func cancellationAsFailure() -> Future<Value> {
        recover(including: .onlyCancellation) { _ in throw FutureError.cancellationAsFailure }
    }

    /// Passes the outcome on, but is cancelled if this future fails with an error for which `isCancellation` returns
    /// `true`. Without `isCancellation`, any error cancels it.
    public func failureAsCancellation(
        where isCancellation: @escaping (any Error) throws -> Bool = { _ in true }
    ) -> Future<Value> {
        mapError { try isCancellation($0) ? CancellationError() : $0 }
    }

    /// Returns a future with this outcome. Cancelling it only ends its waiting: this future runs on.
    ///
    /// ```swift
    /// let index = fetch("index")
    /// let visitor = index.ignoringCancellation()
    /// visitor.cancel()    // The fetch goes on.
    /// ```
    public func ignoringCancellation() -> Future<Value> {
        let child = branch()
        if !child.isCompleted { child.cell.setProducer(Shield()) }
        return child
    }

    /// Passes the outcome on, unless one of `signals` completes first.
    ///
    /// Then fails with the error of that signal, or else with ``FutureError/aborted``, and asks this future to cancel
    /// if nobody else waits. The signals themselves run on. Traps if one is of another loop.
    ///
    /// ```swift
    /// let page = fetch("index").abort(when: [connection.closed])
    /// ```
    public func abort(when signals: [Future<Void>]) -> Future<Value> {
        let target = Cell.plain(loop.core, state: .pending, of: Value.self)
        let group = Group(target: target, cancelRemaining: .always)
        group.wait(for: cell, step: CompleteObserver<Value> { target.complete($0) })
        for signal in signals {
            let observer = CompleteObserver<Void> { target.fail($0.thrownError ?? FutureError.aborted) }
            group.wait(for: signal.ignoringCancellation().cell, step: observer)
        }
        return Future(target)
    }
}

/// Keeps requests to cancel from what is upstream.
private final class Shield: Producer {
    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }
}
