extension TypedFuture {
    /// A future with this outcome, or of the failure that `makeFailure` returns if that comes too late.
    ///
    /// When the time is up this future is asked to cancel, if nobody else waits for it; with
    /// `cancellingSource: false` it is left alone.
    /// A negative `limit` breaks the returned future, with ``FutureError/invalidArgument(_:)``.
    public func timeout(
        after limit: Duration, cancellingSource: Bool = true, _ makeFailure: @escaping () -> Failure
    ) -> TypedFuture {
        let loop = loop
        guard let nanoseconds = limit.wholeNanoseconds else {
            return TypedFuture(loop.failed(FutureError.negativeDuration(limit)))
        }
        let child = CellObject.plain(loop, state: .pending, of: Result<Value, Failure>.self)
        outcome.cell.register(child, when: [])
        if !child.isCompleted {
            TypedTimeoutTimer(
                loop, cell: child, deadline: loop.deadline(after: nanoseconds), cancelling: cancellingSource
            ) { Result<Value, Failure>.failure(makeFailure()) }
            .start()
        }
        return TypedFuture(Future(child))
    }
}

private final class TypedTimeoutTimer<Outcome>: LoopTimer {
    private let cancelling: Bool
    private let makeOutcome: () -> Outcome

    init(
        _ loop: EventLoop, cell: CellObject, deadline: UInt64, cancelling: Bool,
        makeOutcome: @escaping () -> Outcome
    ) {
        self.cancelling = cancelling
        self.makeOutcome = makeOutcome
        super.init(loop, cell: cell, deadline: deadline, keepsAlive: true)
    }

    override func fire(_ cell: CellObject) {
        cell.leaveSource(cancelling: cancelling)
        loop.enqueue { [makeOutcome] in cell.succeed(makeOutcome()) }
    }

    /// Who cancels a future with a time limit cancels what it waits for.
    override var answersRequests: Bool { false }

    override func cancellationRequested(by cell: Cell) -> Answer { .undecided }
}
