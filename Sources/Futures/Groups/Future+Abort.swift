extension Future {
    /// Passes on the outcome of this future. But if one of `signals` completes before this future does, that
    /// signal decides the outcome of the returned future.
    ///
    /// If that signal succeeds, the returned future fails with ``FutureError/aborted``. If that signal fails,
    /// the returned future fails with the same error. If that signal is cancelled, the returned future is
    /// cancelled. In all three cases, this future is asked to cancel, unless other code waits for it. The
    /// signals are not cancelled. Traps if a signal belongs to a different loop from the loop of this future.
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
