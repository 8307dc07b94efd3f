extension Future {
    /// Delays the outcome of this future, value or error, by `duration`. If this future is cancelled, the returned
    /// future is cancelled at once.
    ///
    /// Cancelling `token` cancels the returned future and stops the timer. This future is left alone. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func delay(by duration: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        return cell.derive(
            FlatMapResultStep { result in loop.sleep(for: duration).map { _ in try result.get() } },
            when: [.success, .failure], token: token)
    }

    /// Completes with the outcome of this future, or fails with ``FutureError/timedOut(after:)`` if this future is
    /// still pending when `limit` has passed.
    ///
    /// When the time is up, this future is asked to cancel, unless something else waits for it. With
    /// `cancellingSource: false`, this future is left alone. Cancelling `token` cancels the returned future at once,
    /// and leaves this future alone too. Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
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
