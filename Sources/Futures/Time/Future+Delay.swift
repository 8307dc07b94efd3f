extension Future {
    /// A future with this outcome, value or error, `duration` after it. Cancellation passes at once.
    ///
    /// Cancelled as soon as `token` is, which stops the timer and nothing else.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func delay(by duration: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        return cell.derive(
            FlatMapResultStep { result in loop.sleep(for: duration).map { _ in try result.get() } },
            when: [.success, .failure], token: token)
    }

    /// A future with this outcome, or failed with ``FutureError/timedOut(after:)`` if that comes too late.
    ///
    /// When the time is up this future is asked to cancel, if nobody else waits for it; with
    /// `cancellingSource: false` it is left alone. It is left alone, too, when `token` is cancelled, which cancels
    /// the returned future at once.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
    public func timeout(
        after limit: Duration, cancellingSource: Bool = true, token: CancellationToken = .none
    ) -> Future<Value> {
        let loop = loop
        guard let nanoseconds = limit.wholeNanoseconds else {
            return loop.failed(FutureError.negativeDuration(limit))
        }
        let child = Cell.plain(loop.core, state: .pending, of: Value.self)
        until(token, cancellingSource: false).cell.register(child, when: [])
        if !child.isCompleted {
            child.setProducer(Timeout(limit, cancelling: cancellingSource))
            loop.core.startTimer(child, deadline: loop.core.deadline(after: nanoseconds), keepsAlive: true)
        }
        return Future(child)
    }
}

private final class Timeout: TimeLimit {
    private let limit: Duration
    private let cancelling: Bool

    init(_ limit: Duration, cancelling: Bool) {
        self.limit = limit
        self.cancelling = cancelling
    }

    override var subject: String? { "timeout" }

    override func timeIsUp(for cell: Cell) {
        cell.leaveSource(cancelling: cancelling)
        cell.fail(FutureError.timedOut(after: limit))
    }
}

/// The producer of a future that ends when its time is up, and until then waits for what is limited.
class TimeLimit: Producer {
    /// Who cancels a future with a time limit cancels what it waits for.
    final override var answersRequests: Bool { false }
}
