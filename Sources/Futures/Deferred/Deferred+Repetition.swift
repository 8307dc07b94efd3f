extension Deferred {
    /// Repeats the work as long as the work fails and `condition` returns `true` for the error. Makes at most
    /// `maxRepetitions` repetitions, or any number if `maxRepetitions` is `nil`.
    ///
    /// Completes with the outcome of the last run. Waits for `delay` before each repetition. If `delay` is
    /// `nil`, the repetition follows at once. If `delay` is zero, timers and I/O come first.
    ///
    /// If a run is cancelled, there are no more repetitions. Cancelling the future of the started work also
    /// ends the repetition: a run in progress is asked to cancel, and a wait in progress ends. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `maxRepetitions` or `delay` is negative.
    ///
    /// ```swift
    /// let patient = work.onErrorRepeat(delay: .seconds(1), maxRepetitions: 5) { !($0 is Failure) }
    /// ```
    @_disfavoredOverload
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) -> Bool = { _ in true }
    ) -> Deferred { rerun(.failure, delay, maxRepetitions) { condition($0.failure!) ? .again : .enough } }

    /// Repeats the work as long as the work fails and the future that `condition` returns has the value
    /// `true`. If that future fails, or `condition` throws, the outcome is the error of the run. Everything
    /// else is as with the `onErrorRepeat` that takes a `Bool`.
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) throws -> Future<Bool>
    ) -> Deferred { rerun(.failure, delay, maxRepetitions) { .ask(try condition($0.failure!)) } }

    /// Repeats the work as long as `condition` returns `true` for the outcome, value or error. Everything
    /// else is as with `onErrorRepeat`.
    ///
    /// ```swift
    /// let positive = work.onResultRepeat(delay: .seconds(1)) { ($0.value ?? 0) <= 0 }
    /// ```
    @_disfavoredOverload
    public func onResultRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (Result<Value, any Error>) -> Bool = { _ in true }
    ) -> Deferred { rerun([.success, .failure], delay, maxRepetitions) { condition($0) ? .again : .enough } }

    /// Repeats the work as long as the future that `condition` returns for the outcome has the value `true`.
    /// If that future fails, or `condition` throws, there are no more repetitions, and the outcome is the
    /// outcome of the last run. Everything else is as with the `onResultRepeat` that takes a `Bool`.
    public func onResultRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (Result<Value, any Error>) throws -> Future<Bool>
    ) -> Deferred { rerun([.success, .failure], delay, maxRepetitions) { .ask(try condition($0)) } }

    private func rerun(
        _ interest: Cell.Interest, _ delay: Duration?, _ maxRepetitions: Int?,
        decide: @escaping (Result<Value, any Error>) throws -> Rerun<Value>.Verdict
    ) -> Deferred {
        Deferred { loop in
            if let error = FutureError.complaint(repetitions: maxRepetitions, delay: delay) { throw error }
            return Rerun(
                loop: loop, interest: interest, maxRepetitions: maxRepetitions ?? .max, delay: { _ in delay },
                run: { _ in start(on: loop) }, decide: { result, _ in try decide(result) }
            ).start()
        }
    }

    /// Runs the work until the work succeeds, up to `attempts` times in all. Waits between attempts as
    /// `backoff` says, as `EventLoop.retry` does.
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

    /// Runs the work once and then `repetitions` more times, and completes with an array of the values. Waits
    /// for `delay` between two runs.
    ///
    /// Fails with the first failure. After a failure there are no more runs. If `delay` is `nil`, the next
    /// run follows at once. If `delay` is zero, timers and I/O come first. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `repetitions` or `delay` is negative.
    ///
    /// ```swift
    /// let ten = work.repeatAndCollect(repetitions: 9, delay: .seconds(1)).start(on: loop)
    /// ```
    public func repeatAndCollect(repetitions: Int, delay: Duration? = nil) -> Deferred<[Value]> {
        Deferred<[Value]> { loop in
            if let error = FutureError.complaint(repetitions: repetitions, delay: delay) { throw error }
            return loop.traverse(0...repetitions, maxConcurrent: 1) { run in
                guard let delay, run > 0 else { return start(on: loop) }
                return loop.sleep(for: delay).flatMap { start(on: loop) }
            }
        }
    }
}
