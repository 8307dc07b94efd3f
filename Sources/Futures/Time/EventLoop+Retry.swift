extension EventLoop {
    /// Runs `body` again and again until its future succeeds, but at most `attempts` times. The returned
    /// future completes with the value, or fails with the error of the last attempt. `body` gets the number
    /// of the attempt, from 1.
    ///
    /// `backoff` says how long to wait between two attempts. `generator` gives the random numbers for the jitter of
    /// these waits. If it is `nil`, they come from ``random``. If `condition` returns `false` for an error, there are
    /// no more attempts, and the returned future fails with that error. If an attempt is cancelled, there are no more
    /// attempts, and the returned future is cancelled.
    ///
    /// Cancelling the returned future or `token` asks the attempt in progress to cancel, or ends the wait in
    /// progress. If `token` is cancelled already, there is no attempt. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `attempts` is not positive. Fails with the same error if
    /// `backoff` has a negative `initial` or `maximum`, a `factor` that is less than 1 or infinite, or a
    /// `jitter` outside the range from 0 to 1.
    ///
    /// ```swift
    /// let page = loop.retry(attempts: 5, backoff: .constant(.seconds(1))) { _ in fetch("index") }
    /// ```
    @_disfavoredOverload
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: (any RandomNumberGenerator)? = nil,
        when condition: @escaping (any Error) -> Bool = { _ in true }, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { error, _ in condition(error) ? .again : .enough }
    }

    /// Runs `body` again and again until its future succeeds, but at most `attempts` times. The returned
    /// future completes with the value, or fails with the error of the last attempt. `body` gets the number
    /// of the attempt, from 1.
    ///
    /// After a failed attempt, `condition` gets the error and the number of attempts that remain. If
    /// `condition` returns `false`, there are no more attempts. `condition` is not called after the last
    /// attempt.
    ///
    /// `backoff`, `generator` and `token` have the same meaning as in the `retry` whose `condition` gets only
    /// the error. The returned future also fails with ``FutureError/invalidArgument(_:)`` in the same cases.
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: (any RandomNumberGenerator)? = nil,
        when condition: @escaping (any Error, _ remaining: Int) -> Bool, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { condition($0, $1) ? .again : .enough }
    }

    /// Runs `body` again and again until its future succeeds, but at most `attempts` times. The returned
    /// future completes with the value, or fails with the error of the last attempt. `body` gets the number
    /// of the attempt, from 1.
    ///
    /// After a failed attempt, `condition` gets the error and returns a future. If that future has the value
    /// `true`, the next attempt follows. If that future has the value `false`, fails or is cancelled, or if
    /// `condition` throws, there are no more attempts.
    ///
    /// `backoff`, `generator` and `token` have the same meaning as in the `retry` whose `condition` returns a
    /// `Bool`. The returned future also fails with ``FutureError/invalidArgument(_:)`` in the same cases.
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: (any RandomNumberGenerator)? = nil,
        when condition: @escaping (any Error) throws -> Future<Bool>, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { error, _ in .ask(try condition(error)) }
    }

    private func retry<Value>(
        _ attempts: Int, _ backoff: Backoff, _ generator: (any RandomNumberGenerator)?,
        _ token: CancellationToken, _ body: @escaping (_ attempt: Int) throws -> Future<Value>,
        decide: @escaping (any Error, _ remaining: Int) throws -> Rerun<Value>.Verdict
    ) -> Future<Value> {
        guard !token.isCancelled(on: core) else { return failed(CancellationError()) }
        guard attempts > 0 else {
            return failed(FutureError.invalidArgument("attempts must be at least 1, not \(attempts)"))
        }
        if let complaint = backoff.complaint { return failed(FutureError.invalidArgument(complaint)) }
        var generator = generator ?? core.random
        return Rerun(
            loop: core, interest: .failure, maxRepetitions: attempts - 1,
            delay: { backoff.delay(afterAttempt: $0, using: &generator) }, run: { try body($0 + 1) }
        ) { result, remaining in
            try decide(result.thrownError!, remaining)
        }.start().until(token)
    }

    /// Runs `body` again and again until `predicate` returns `true` for the value of the future that `body`
    /// returned. The returned future completes with that value. The first run starts at once. Each further
    /// run starts when `interval` has passed since the end of the previous run.
    ///
    /// There is no limit to the number of runs. To set a time limit, use `Future.timeout`. Fails with the
    /// error that `body` or `predicate` throws, or with the error of the future that `body` returned.
    /// Cancelling the returned future or `token` asks the run in progress to cancel, or ends the wait in
    /// progress. If `token` is cancelled already, there is no run. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `interval` is not positive.
    ///
    /// ```swift
    /// let page = loop.poll(every: .seconds(1), until: { !$0.isEmpty }) { fetch("index") }
    /// ```
    public func poll<Value>(
        every interval: Duration, until predicate: @escaping (Value) throws -> Bool,
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        guard !token.isCancelled(on: core) else { return failed(CancellationError()) }
        guard interval > .zero else { return failed(FutureError.unsuitableInterval(interval)) }
        let last = Rerun(
            loop: core, interest: .success, maxRepetitions: .max, delay: { _ in interval },
            run: { _ in try body().map { value in (value: value, isEnough: try predicate(value)) } },
            decide: { result, _ in try result.get().isEnough ? .enough : .again }
        ).start()
        let value = MapStep<(value: Value, isEnough: Bool), Value> { $0.value }
        return last.cell.derive(Named(Poll.self, value), when: .success).until(token)
    }
}

private enum Poll: Verb { static var verb: String { "poll" } }
