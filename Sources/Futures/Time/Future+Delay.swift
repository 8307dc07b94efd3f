extension Future {
    /// Delays this outcome, value or error, by `duration`. Passes on cancellation at once.
    ///
    /// Cancelling `token` cancels the returned future, which stops the timer and nothing else.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func delay(by duration: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        return cell.derive(
            FlatMapResultStep { result in loop.sleep(for: duration).map { _ in try result.get() } },
            when: [.success, .failure], token: token)
    }

    /// Passes on this outcome, or fails with ``FutureError/timedOut(after:)`` if it comes too late.
    ///
    /// When the time is up, asks this future to cancel if nobody else waits for it. With `cancellingSource: false`
    /// leaves it alone. Cancelling `token` cancels the returned future at once, and leaves this one alone too.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
    ///
    /// ```swift
    /// let page = fetch("index").timeout(after: .seconds(5))
    /// ```
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

/// The producer of a future that ends when its time is up, and until then waits for the limited future.
class TimeLimit: Producer {
    /// Always `false`: cancelling a future with a time limit cancels what it waits for.
    final override var answersRequests: Bool { false }
}
