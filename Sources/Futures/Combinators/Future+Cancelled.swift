extension Future {
    /// Turns cancellation of this future into a failure with ``FutureError/cancellationAsFailure``. So error
    /// handlers further down the chain are called. If this future has a value or an error, the returned
    /// future has the same value or error.
    ///
    /// If you cancel the returned future itself, that future is cancelled, and does not fail.
    ///
    /// ```swift
    /// let page = fetch("index").cancellationAsFailure().recover { _ in Data() }
    /// ```
    public func cancellationAsFailure() -> Future<Value> {
        recover(including: .onlyCancellation) { _ in throw FutureError.cancellationAsFailure }
    }

    /// Turns a failure of this future into cancellation if `isCancellation` returns `true` for the error.
    /// Otherwise, the returned future has the same outcome as this future.
    ///
    /// If you leave out `isCancellation`, every error is turned into cancellation. If `isCancellation`
    /// throws, the returned future fails with the error that it throws.
    public func failureAsCancellation(
        where isCancellation: @escaping (any Error) throws -> Bool = { _ in true }
    ) -> Future<Value> { mapError { try isCancellation($0) ? CancellationError() : $0 } }

    /// Returns a future with the outcome of this future. Cancelling the returned future does not cancel this
    /// future.
    ///
    /// A task that awaits the returned future waits until that has completed, even if the task is cancelled. So a
    /// cancelled body can wait for its clean-up. Nothing but the end of the loop cuts that wait short: give this future a
    /// time limit before, with ``timeout(after:cancellingSource:token:)``.
    ///
    /// ```swift
    /// let index = fetch("index")
    /// let visitor = index.ignoringCancellation()
    /// visitor.cancel()    // The fetch goes on.
    /// ```
    public func ignoringCancellation() -> Future<Value> { ignoringCancellation(onCancelledWait: nil) }

    /// Returns a future as ``ignoringCancellation()`` does. Calls `onCancelledWait` when a task that awaits the returned
    /// future is cancelled.
    func ignoringCancellation(onCancelledWait: (() -> Void)?) -> Future<Value> {
        let child = branch()
        if !child.isCompleted { child.cell.setProducer(Shield(onCancelledWait: onCancelledWait)) }
        return child
    }
}
