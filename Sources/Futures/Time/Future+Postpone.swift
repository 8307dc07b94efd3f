extension Future {
    /// A future with this outcome, value or error, but not before `delay` has passed from now. Cancellation
    /// passes at once.
    ///
    /// Cancelled as soon as `token` is, which stops the timer and nothing else.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
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

    /// A future of the value, `duration` after it. Error and cancellation pass at once.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func delaySuccess(by duration: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop
        return flatMap(token: token) { value in loop.sleep(for: duration).map { value } }
    }

    /// A future with this outcome, value or error, as much later as `duration` returns for it; at once for `nil`.
    /// Cancellation passes at once.
    ///
    /// Fails with what `duration` throws, and with ``FutureError/invalidArgument(_:)`` if it is negative.
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

    /// A future with this outcome, or one that completes as `replacement` says if that comes too late.
    ///
    /// When the time is up this future is asked to cancel, if nobody else waits for it; with
    /// `cancellingSource: false` it is left alone. It is left alone, too, when `token` is cancelled, which cancels
    /// the returned future at once.
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

    /// Calls `completed` with the outcome, or `timedOut` if that has not come when `limit` has passed: one of the
    /// two, once. This future is not cancelled. When `token` is cancelled `completed` is called as for a cancelled
    /// future.
    ///
    /// Calls `completed` with ``FutureError/invalidArgument(_:)`` if `limit` is negative.
    public func whenComplete(
        within limit: Duration, on context: LocalContext = .default, token: CancellationToken = .none,
        _ completed: @escaping (Result<Value, any Error>) -> Void, timedOut: @escaping () -> Void
    ) {
        mapResult(token: token) { Optional($0) }
            .timeout(after: limit, with: .success(nil), cancellingSource: false)
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
    /// A future of `value`, when `delay` has passed. Cancelling it stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func succeeded<Value>(_ value: Value, after delay: Duration) -> Future<Value> {
        sleep(for: delay).map { value }
    }

    /// A future that fails with `error`, when `delay` has passed. Cancelling it stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func failed<Value>(
        _ error: any Error, after delay: Duration, of _: Value.Type = Value.self
    ) -> Future<Value> {
        sleep(for: delay).map { throw error }
    }

    /// A future that completes in the way that `completing` says, when `delay` has passed. Cancelling it before
    /// stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func completed<C: Completing>(_ completing: C, after delay: Duration) -> Future<C.Value> {
        sleep(for: delay).flatMap { completing }
    }
}
