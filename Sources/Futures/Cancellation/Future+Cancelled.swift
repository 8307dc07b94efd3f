extension Future {
    /// A future with this outcome, in front of which `body` runs if it is cancellation.
    ///
    /// `body` runs exactly once, also when the returned future itself is cancelled; those of futures upstream
    /// run first. What it throws replaces the cancellation that comes from upstream.
    public func tapCancelled(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> Void
    ) -> Future<Value> {
        cell.derive(
            TapStep { _ in try body() }, when: [.cancellation, .afterCancel], on: context, token: token)
    }

    /// A future with this outcome, in front of which `body` sees the error, or a `CancellationError`.
    ///
    /// `body` runs exactly once, also when the returned future itself is cancelled; those of futures upstream
    /// run first. What it throws replaces the cancellation that comes from upstream; after an error it is a
    /// ``CleanUpError``, which has both.
    public func tapErrorOrCancelled(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (any Error) throws -> Void
    ) -> Future<Value> {
        let step = TapStep<Value> { result in
            if let error = result.thrownError { try body(error) }
        }
        return cell.derive(
            step, when: [.failure, .cancellation, .afterCancel], on: context, token: token)
    }

    /// A future with this outcome that fails with ``FutureError/cancellationAsFailure`` if this one is cancelled, so that
    /// error handlers see it. Cancelling the returned future itself cancels it as ever.
    public func cancellationAsFailure() -> Future<Value> {
        recoverCancelled { throw FutureError.cancellationAsFailure }
    }

    /// A future with this outcome that is cancelled if this one fails with an error for which `isCancellation`
    /// is true, or with any.
    public func failureAsCancellation(
        where isCancellation: @escaping (any Error) throws -> Bool = { _ in true }
    ) -> Future<Value> {
        mapError { try isCancellation($0) ? CancellationError() : $0 }
    }

    /// A future with this outcome. Cancelling it only ends its waiting: this future runs on.
    public func ignoringCancellation() -> Future<Value> {
        let child = branch()
        if !child.isCompleted { child.cell.setProducer(Shield()) }
        return child
    }

    /// A future with this outcome, unless one of `signals` completes before: then it fails with the error of
    /// that one, or else with ``FutureError/aborted``, and this future is asked to cancel if nobody else waits.
    ///
    /// The signals themselves run on. Traps if one is of another loop.
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
