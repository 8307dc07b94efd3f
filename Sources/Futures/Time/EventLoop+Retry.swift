extension EventLoop {
    /// Runs `body` up to `attempts` times until it succeeds, and completes with the value or the last error. `body`
    /// gets the attempt's number, from 1.
    ///
    /// Waits between attempts as `backoff` says, with jitter from `generator`. Ends at once with an error for which
    /// `condition` is `false`, and with cancellation. Cancelling the future, or `token`, reaches the attempt or the
    /// wait in progress. With a token that is cancelled already there is no attempt.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `attempts` is not positive or `backoff` makes no sense.
    ///
    /// ```swift
    /// let page = loop.retry(attempts: 5, backoff: .constant(.seconds(1))) { _ in fetch("index") }
    /// ```
    @_disfavoredOverload
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        when condition: @escaping (any Error) -> Bool = { _ in true }, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { error, _ in condition(error) ? .again : .enough }
    }

    /// Retries `body`, where `condition` also gets the number of attempts that remain.
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        when condition: @escaping (any Error, _ remaining: Int) -> Bool, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { error, remaining in
            condition(error, remaining) ? .again : .enough
        }
    }

    /// Retries `body` as long as the future that `condition` returns says so. If that fails, or `condition` throws,
    /// the error of the attempt ends it.
    public func retry<Value>(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        when condition: @escaping (any Error) throws -> Future<Bool>, token: CancellationToken = .none,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>
    ) -> Future<Value> {
        retry(attempts, backoff, generator, token, body) { error, _ in .ask(try condition(error)) }
    }

    private func retry<Value>(
        _ attempts: Int, _ backoff: Backoff, _ generator: any RandomNumberGenerator,
        _ token: CancellationToken,
        _ body: @escaping (_ attempt: Int) throws -> Future<Value>,
        decide: @escaping (any Error, _ remaining: Int) throws -> Rerun<Value>.Verdict
    ) -> Future<Value> {
        guard !token.isCancelled else { return failed(CancellationError()) }
        guard attempts > 0 else {
            return failed(FutureError.invalidArgument("\(attempts) attempts are none; give at least 1"))
        }
        if let complaint = backoff.complaint { return failed(FutureError.invalidArgument(complaint)) }
        var generator = generator
        return Rerun(
            loop: core, interest: .failure, maxRepetitions: attempts - 1,
            delay: { backoff.delay(afterAttempt: $0, using: &generator) },
            run: { try body($0 + 1) }
        ) { result, remaining in
            guard case .failure(let error) = result else { return .enough }
            return try decide(error, remaining)
        }.start().until(token)
    }

    /// Runs `body` until a value satisfies `predicate`, and completes with that value. Starts at once, and again each
    /// time that `interval` has passed since the run before.
    ///
    /// Goes on until then. `Future.timeout` sets a limit. Ends with a failure, and with what either closure throws.
    /// Cancelling the future, or `token`, reaches the run or the wait in progress. With a token that is cancelled
    /// already there is no run.
    /// Fails with ``FutureError/invalidArgument(_:)`` if `interval` is not positive.
    ///
    /// ```swift
    /// let page = loop.poll(every: .seconds(1), until: { !$0.isEmpty }) { fetch("index") }
    /// ```
    public func poll<Value>(
        every interval: Duration, until predicate: @escaping (Value) throws -> Bool,
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        guard !token.isCancelled else { return failed(CancellationError()) }
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
