extension Future {
    /// Passes on this outcome, value or error, but not before `delay` has passed from now. Passes on cancellation at
    /// once.
    ///
    /// Cancelling `token` cancels the returned future, which stops the timer and nothing else.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    ///
    /// ```swift
    /// let answer = fetch("login").notBefore(.seconds(1))    // How long it took tells nothing.
    /// ```
    public func notBefore(_ delay: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        guard let nanoseconds = delay.wholeNanoseconds else {
            return loop.failed(FutureError.negativeDuration(delay))
        }
        let deadline = loop.core.deadline(after: nanoseconds)
        let step = CompletingStep<Value, Value> { result in
            guard loop.core.clock < deadline else { return result.completion }
            return .using(
                loop.core.sleep(until: deadline, keepsLoopAlive: true).map { try result.get() })
        }
        return cell.derive(step, when: [.success, .failure], token: token)
    }

    /// Delays this outcome, value or error, by what `duration` returns for it. Passes it on at once for `nil`.
    /// Passes on cancellation at once.
    ///
    /// Fails with what `duration` throws, and with ``FutureError/invalidArgument(_:)`` if it is negative.
    ///
    /// ```swift
    /// let page = fetch("index").delay { $0.isSuccess ? nil : .seconds(1) }
    /// ```
    public func delay(
        on context: LocalContext = .default, token: CancellationToken = .none,
        by duration: @escaping (Result<Value, any Error>) throws -> Duration?
    ) -> Future<Value> {
        let loop = loop
        let step = CompletingStep<Value, Value> { result in
            guard let duration = try duration(result) else { return result.completion }
            return .using(loop.sleep(for: duration).map { try result.get() })
        }
        return cell.derive(step, when: [.success, .failure], on: context, token: token)
    }

    /// Passes on this outcome, or completes as `replacement` says if it comes too late.
    ///
    /// When the time is up, asks this future to cancel if nobody else waits for it. With `cancellingSource: false`
    /// leaves it alone. Cancelling `token` cancels the returned future at once, and leaves this one alone too.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
    public func timeout(
        after limit: Duration, with replacement: FutureCompletion<Value>, cancellingSource: Bool = true,
        token: CancellationToken = .none
    ) -> Future<Value> {
        let loop = loop
        guard let nanoseconds = limit.wholeNanoseconds else {
            return loop.failed(FutureError.negativeDuration(limit))
        }
        let child = until(token, cancellingSource: false).branch()
        if !child.isCompleted {
            child.cell.setProducer(Replacement(replacement, cancelsSource: cancellingSource))
            loop.core.startTimer(
                child.cell, deadline: loop.core.deadline(after: nanoseconds), keepsAlive: true)
        }
        return child
    }

    /// Calls `completed` with the outcome, or `timedOut` if it has not come within `limit`: one of the two, once.
    /// Does not cancel this future. Cancelling `token` calls `completed` as for a cancelled future.
    ///
    /// Calls `completed` with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
    ///
    /// ```swift
    /// fetch("index").whenComplete(within: .seconds(1)) { print($0) } timedOut: { print("still loading") }
    /// ```
    public func whenComplete(
        within limit: Duration, on context: LocalContext = .default, token: CancellationToken = .none,
        _ completed: @escaping (Result<Value, any Error>) -> Void, timedOut: @escaping () -> Void
    ) {
        // What waits in between leaves this future alone, and leaves its list when the time is up.
        ignoringCancellation().mapResult(token: token) { Optional($0) }
            .timeout(after: limit, with: .success(nil))
            .whenComplete(on: context) { outcome in
                switch outcome {
                case .success(let result?): completed(result)
                case .success(nil): timedOut()
                case .failure(let error): completed(.failure(error))
                }
            }
    }
}

private final class Replacement<Value>: TimeLimit {
    private let completion: FutureCompletion<Value>
    private let cancelsSource: Bool

    init(_ completion: FutureCompletion<Value>, cancelsSource: Bool) {
        self.completion = completion
        self.cancelsSource = cancelsSource
    }

    override var subject: String? { "timeout" }

    override func timeIsUp(for cell: Cell) {
        cell.leaveSource(cancelling: cancelsSource)
        cell.pointer.complete(with: completion)
    }
}

extension EventLoop {
    /// Completes with `value` when `delay` has passed. Cancelling the future stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func succeeded<Value>(_ value: Value, after delay: Duration) -> Future<Value> {
        sleep(for: delay).map { value }
    }

    /// Completes as `completing` says when `delay` has passed. Cancelling the future before stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func completed<C: Completing>(_ completing: C, after delay: Duration) -> Future<C.Value> {
        sleep(for: delay).flatMap { completing }
    }
}
