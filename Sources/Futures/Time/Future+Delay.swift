extension Future {
    /// Waits for `duration` after this future has completed, and then passes on the value or error of this
    /// future. If this future is cancelled, the returned future is cancelled at once.
    ///
    /// Cancelling `token` cancels the returned future and stops the timer, and does not cancel this future.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func delay(by duration: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        if duration < .zero { return loop.failed(FutureError.negativeDuration(duration)) }
        return held(token: token) { _ in loop.sleep(for: duration) }
    }

    /// Completes with the outcome of this future if this future completes within `limit`. Otherwise fails
    /// with ``FutureError/timedOut(after:)``.
    ///
    /// When `limit` has passed, this future is asked to cancel, unless other code waits for it. With
    /// `cancellingSource: false`, this future is not asked to cancel. Cancelling `token` cancels the returned
    /// future at once, and does not cancel this future. Fails with ``FutureError/invalidArgument(_:)`` if
    /// `limit` is negative.
    ///
    /// ```swift
    /// let page = fetch("index").timeout(after: .seconds(5))
    /// ```
    public func timeout(
        after limit: Duration, cancellingSource: Bool = true, token: CancellationToken = .none
    ) -> Future<Value> {
        limited(by: Timeout(limit, replacement: nil, cancelling: cancellingSource), token)
    }

    /// Completes with the outcome of this future if this future completes within `limit`. Otherwise completes
    /// with `replacement`.
    ///
    /// When `limit` has passed, this future is asked to cancel, unless other code waits for it. With
    /// `cancellingSource: false`, this future is not asked to cancel. Cancelling `token` cancels the returned
    /// future at once, and does not cancel this future. Fails with ``FutureError/invalidArgument(_:)`` if
    /// `limit` is negative.
    public func timeout(
        after limit: Duration, with replacement: FutureCompletion<Value>, cancellingSource: Bool = true,
        token: CancellationToken = .none
    ) -> Future<Value> {
        if case .using(let other) = replacement { _ = other.given(to: cell.loop) }
        let replace = { (target: CellPointer) in target.complete(with: replacement) }
        return limited(by: Timeout(limit, replacement: replace, cancelling: cancellingSource), token)
    }

    func limited(by timeout: Timeout, _ token: CancellationToken = .none) -> Future<Value> {
        let loop = loop.core
        guard let nanoseconds = timeout.limit.wholeNanoseconds else {
            return loop.failed(FutureError.negativeDuration(timeout.limit))
        }
        let child = until(token, cancellingSource: false).branch()
        if !child.cell.isCompleted {
            child.cell.setProducer(timeout)
            loop.startTimer(child.cell, deadline: loop.deadline(after: nanoseconds), keepsAlive: true)
        }
        return child
    }
}

// Not generic: a look-up of a generic class's metadata takes as long as all the rest of a timeout.
final class Timeout: Producer {
    let limit: Duration
    /// Completes the future when the time is up. `nil` stands for a failure with `FutureError.timedOut`.
    private let replacement: ((_ target: CellPointer) -> Void)?
    private let cancelling: Bool
    /// Whether the future is typed: a snapshot does not name the steps of typed futures.
    private let isTyped: Bool

    init(
        _ limit: Duration, replacement: ((CellPointer) -> Void)?, cancelling: Bool, isTyped: Bool = false
    ) {
        self.limit = limit
        self.replacement = replacement
        self.cancelling = cancelling
        self.isTyped = isTyped
    }

    /// A request to cancel a future with a time limit goes on to the future that it waits for.
    override var answersRequests: Bool { false }

    override var subject: String? { isTyped ? nil : "timeout" }

    override func timeIsUp(for cell: Cell) {
        cell.leaveSource(cancelling: cancelling)
        if let replacement {
            replacement(cell.pointer)
        } else {
            cell.fail(FutureError.timedOut(after: limit))
        }
    }
}
