extension Future {
    /// Waits until this future has completed and `delay` has passed since this call. Then passes on the value
    /// or error of this future. If this future is cancelled, the returned future is cancelled at once.
    ///
    /// Cancelling `token` cancels the returned future and stops the timer, and does not cancel this future.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    ///
    /// ```swift
    /// let answer = fetch("login").notBefore(.seconds(1))    // How long it took tells nothing.
    /// ```
    public func notBefore(_ delay: Duration, token: CancellationToken = .none) -> Future<Value> {
        let loop = loop.core
        guard let nanoseconds = delay.wholeNanoseconds else {
            return loop.failed(FutureError.negativeDuration(delay))
        }
        let deadline = loop.deadline(after: nanoseconds)
        return held(token: token) { _ in
            loop.clock < deadline ? loop.sleep(until: deadline, keepsLoopAlive: true) : nil
        }
    }

    /// Calls `duration` with the outcome of this future, value or error, and passes on the outcome after the
    /// delay that `duration` returns. If `duration` returns `nil`, there is no delay. If this future is
    /// cancelled, the returned future is cancelled at once.
    ///
    /// Fails with the error that `duration` throws. Fails with ``FutureError/invalidArgument(_:)`` if the
    /// delay is negative.
    ///
    /// ```swift
    /// let page = fetch("index").delay { $0.isSuccess ? nil : .seconds(1) }
    /// ```
    public func delay(
        on context: LocalContext = .default, token: CancellationToken = .none,
        by duration: @escaping (Result<Value, any Error>) throws -> Duration?
    ) -> Future<Value> {
        let loop = loop
        return held(on: context, token: token) { try duration($0).map { loop.sleep(for: $0) } }
    }

    /// Calls `completed` with the outcome of this future if this future completes within `limit`. Otherwise
    /// calls `timedOut` when `limit` has passed. Exactly one of the two closures is called, once.
    ///
    /// Does not cancel this future. If `token` is cancelled, calls `completed` with a `CancellationError`. If
    /// `limit` is negative, calls `completed` with ``FutureError/invalidArgument(_:)``.
    ///
    /// ```swift
    /// fetch("index").whenComplete(within: .seconds(1)) { print($0) } timedOut: { print("still loading") }
    /// ```
    public func whenComplete(
        within limit: Duration, on context: LocalContext = .default, token: CancellationToken = .none,
        _ completed: @escaping (Result<Value, any Error>) -> Void, timedOut: @escaping () -> Void
    ) {
        // The futures in between do not cancel this future. They leave its list of consumers when the time is
        // up.
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

extension EventLoop {
    /// Completes with `value` when `delay` has passed. Cancelling the returned future stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func succeeded<Value>(_ value: Value, after delay: Duration) -> Future<Value> {
        sleep(for: delay).map { value }
    }

    /// When `delay` has passed, completes with the outcome of `completing`, which is for example a `Result`
    /// or another future. Cancelling the returned future before `delay` has passed stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    public func completed<C: Completing>(_ completing: C, after delay: Duration) -> Future<C.Value> {
        let completion = completing.completion
        if case .using(let future) = completion { _ = future.given(to: core) }
        // What completes holds its promise, too.
        return sleep(for: delay).flatMap { withExtendedLifetime(completing) { completion } }
    }
}
