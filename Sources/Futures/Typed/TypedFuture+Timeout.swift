extension TypedFuture {
    /// Fails with the failure that `makeFailure` returns, unless this future completes within `limit`.
    ///
    /// When the time is up, this future is asked to cancel if nobody else waits for it. With
    /// `cancellingSource: false` it is left alone. A negative `limit` breaks the returned future, with
    /// ``FutureError/invalidArgument(_:)``.
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
            child.setProducer(
                TypedTimeout(cancelling: cancellingSource) { Result<Value, Failure>.failure(makeFailure()) })
            loop.core.startTimer(child, deadline: loop.core.deadline(after: nanoseconds), keepsAlive: true)
        }
        return TypedFuture(Future(child))
    }
}

private final class TypedTimeout<Outcome>: TimeLimit {
    private let cancelling: Bool
    private let makeOutcome: () -> Outcome

    init(cancelling: Bool, makeOutcome: @escaping () -> Outcome) {
        self.cancelling = cancelling
        self.makeOutcome = makeOutcome
    }

    override func timeIsUp(for cell: Cell) {
        cell.leaveSource(cancelling: cancelling)
        cell.loop.enqueue { [makeOutcome] in cell.succeed(makeOutcome()) }
    }
}
