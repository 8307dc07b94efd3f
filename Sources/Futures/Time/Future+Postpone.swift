extension Future {
    /// Completes with the outcome of this future, value or error, but not before `delay` has passed from now. If this
    /// future is cancelled, the returned future is cancelled at once.
    ///
    /// Cancelling `token` cancels the returned future and stops the timer. This future is left alone. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `delay` is negative.
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

    /// Delays the outcome of this future, value or error, by the duration that `duration` returns for the outcome. If
    /// `duration` returns `nil`, the returned future completes at once. If this future is cancelled, the returned
    /// future is cancelled at once.
    ///
    /// Fails with what `duration` throws. Fails with ``FutureError/invalidArgument(_:)`` if the duration is negative.
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

    /// Completes with the outcome of this future, or as `replacement` says if this future is still pending when `limit`
    /// has passed.
    ///
    /// When the time is up, this future is asked to cancel, unless something else waits for it. With
    /// `cancellingSource: false`, this future is left alone. Cancelling `token` cancels the returned future at once,
    /// and leaves this future alone too. Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
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

    /// Calls `completed` with the outcome of this future, or calls `timedOut` if this future is still pending when
    /// `limit` has passed. Calls exactly one of the two, once.
    ///
    /// Does not cancel this future. If `token` is cancelled, calls `completed` as for a cancelled future. If `limit` is
    /// negative, calls `completed` with ``FutureError/invalidArgument(_:)``.
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
    /// Completes with `value` when `delay` has passed. Cancelling the returned future stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func succeeded<Value>(_ value: Value, after delay: Duration) -> Future<Value> {
        sleep(for: delay).map { value }
    }

    /// Completes as `completing` says when `delay` has passed. Cancelling the returned future before then stops the
    /// timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func completed<C: Completing>(_ completing: C, after delay: Duration) -> Future<C.Value> {
        sleep(for: delay).flatMap { completing }
    }
}
