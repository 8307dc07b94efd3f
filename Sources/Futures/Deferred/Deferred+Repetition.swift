extension Deferred {
    /// Does the work again as long as it fails and `condition` is `true` of the error, but at most `maxRepetitions`
    /// more times; the outcome is that of the last run.
    ///
    /// Waits for `delay` before each repetition. Without one it follows at once; a delay of zero lets timers and I/O
    /// come first. A run that is cancelled ends it. So does cancelling the whole, which reaches the run or the wait
    /// in progress. Fails with ``FutureError/invalidArgument(_:)`` if `maxRepetitions` or `delay` is negative.
    @_disfavoredOverload
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) -> Bool = { _ in true }
    ) -> Deferred {
        rerun(.failure, delay, maxRepetitions) { condition($0.failure!) ? .again : .enough }
    }

    /// The same, where the future that `condition` returns decides. If that fails, or `condition` throws, the error
    /// of the run is the outcome.
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) throws -> Future<Bool>
    ) -> Deferred {
        rerun(.failure, delay, maxRepetitions) { .ask(try condition($0.failure!)) }
    }

    /// Does the work again as long as `condition` is `true` of its outcome, value or error. Otherwise the same as
    /// `onErrorRepeat`.
    @_disfavoredOverload
    public func onResultRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (Result<Value, any Error>) -> Bool = { _ in true }
    ) -> Deferred {
        rerun([.success, .failure], delay, maxRepetitions) { condition($0) ? .again : .enough }
    }

    /// The same, where the future that `condition` returns decides. If that fails, or `condition` throws, the outcome
    /// of the run stands.
    public func onResultRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (Result<Value, any Error>) throws -> Future<Bool>
    ) -> Deferred {
        rerun([.success, .failure], delay, maxRepetitions) { .ask(try condition($0)) }
    }

    private func rerun(
        _ interest: Cell.Interest, _ delay: Duration?, _ maxRepetitions: Int?,
        decide: @escaping (Result<Value, any Error>) throws -> Rerun<Value>.Verdict
    ) -> Deferred {
        Deferred { loop in
            if let complaint = FutureError.complaint(repetitions: maxRepetitions, delay: delay) {
                throw complaint
            }
            return Rerun(
                loop: loop, interest: interest, maxRepetitions: maxRepetitions ?? .max,
                delay: { _ in delay },
                run: { _ in start(on: loop) }, decide: { result, _ in try decide(result) }
            ).start()
        }
    }

    /// Does the work until it succeeds, up to `attempts` times in all, waiting in between as `backoff` says, as
    /// `EventLoop.retry` does.
    public func retry(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        when condition: @escaping (any Error) -> Bool = { _ in true }
    ) -> Deferred {
        Deferred { loop in
            loop.retry(attempts: attempts, backoff: backoff, using: generator, when: condition) { _ in
                start(on: loop)
            }
        }
    }

    /// Does the work once and then `repetitions` times more, with `delay` in between, for an array of the values.
    ///
    /// A failure ends it as a failure. Without a `delay` the next run follows at once; a delay of zero lets timers
    /// and I/O come first. Fails with ``FutureError/invalidArgument(_:)`` if `repetitions` or `delay` is negative.
    public func repeatAndCollect(repetitions: Int, delay: Duration? = nil) -> Deferred<[Value]> {
        Deferred<[Value]> { loop in
            let complaint = FutureError.complaint(repetitions: repetitions, delay: delay)
            if let complaint { throw complaint }
            return loop.traverse(0...repetitions, maxConcurrent: 1) { run in
                guard let delay, run > 0 else { return start(on: loop) }
                return loop.sleep(for: delay).flatMap { start(on: loop) }
            }
        }
    }
}
