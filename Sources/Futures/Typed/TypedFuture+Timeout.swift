extension TypedFuture {
    /// Completes with the outcome of this future if this future completes within `limit`. Otherwise fails
    /// with the failure that `makeFailure` returns.
    ///
    /// When `limit` has passed, this future is asked to cancel, unless other code waits for it. With
    /// `cancellingSource: false`, this future is not asked to cancel. If `limit` is negative, the returned
    /// future ends as ``FutureFailure/broken(_:)`` with ``FutureError/invalidArgument(_:)``.
    public func timeout(
        after limit: Duration, cancellingSource: Bool = true, _ makeFailure: @escaping () -> Failure
    ) -> TypedFuture {
        let loop = loop
        guard let nanoseconds = limit.wholeNanoseconds else {
            return TypedFuture(loop.failed(FutureError.negativeDuration(limit)))
        }
        let child = Cell.plain(loop.core, state: .pending, of: Result<Value, Failure>.self)
        outcome.cell.register(child, when: [])
        if !child.isCompleted {
            child.setProducer(TypedTimeout<Value, Failure>(cancelling: cancellingSource, makeFailure))
            loop.core.startTimer(child, deadline: loop.core.deadline(after: nanoseconds), keepsAlive: true)
        }
        return TypedFuture(Future(child))
    }
}

/// The time limit of a typed future.
private final class TypedTimeout<Value, Failure: Error>: TimeLimit {
    private let cancelling: Bool
    private let makeFailure: () -> Failure

    init(cancelling: Bool, _ makeFailure: @escaping () -> Failure) {
        self.cancelling = cancelling
        self.makeFailure = makeFailure
    }

    override func timeIsUp(for cell: Cell) {
        cell.leaveSource(cancelling: cancelling)
        cell.loop.enqueue { [makeFailure] in cell.succeed(Result<Value, Failure>.failure(makeFailure())) }
    }
}
