extension Deferred {
    /// Returns work that repeats this work. After a run that failed, `condition` gets the error. If
    /// `condition` returns `true`, this work runs again. There are at most `maxRepetitions` runs after the
    /// first run. If `maxRepetitions` is `nil`, there is no such limit.
    ///
    /// The outcome is the outcome of the last run. Before each repetition, there is a wait of `delay`. If
    /// `delay` is `nil`, a repetition follows at once. If `delay` is zero, a repetition follows after the
    /// loop has looked for timers and I/O.
    ///
    /// If a run is cancelled, there are no more repetitions. Cancelling the future of the started work asks
    /// the run in progress to cancel, or ends the wait in progress. If `maxRepetitions` or `delay` is
    /// negative, the work fails with ``FutureError/invalidArgument(_:)``.
    ///
    /// ```swift
    /// let patient = work.onErrorRepeat(delay: .seconds(1), maxRepetitions: 5) { !($0 is Failure) }
    /// ```
    @_disfavoredOverload
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) -> Bool = { _ in true }
    ) -> Deferred { rerun(.failure, delay, maxRepetitions) { condition($0.failure!) ? .again : .enough } }

    /// Returns work that repeats this work. After a run that failed, `condition` gets the error. If the
    /// future that `condition` returns has the value `true`, this work runs again. If that future has the
    /// value `false`, fails or is cancelled, or if `condition` throws, the outcome is the error of the last
    /// run.
    ///
    /// `delay` and `maxRepetitions` have the same meaning as in the `onErrorRepeat` whose `condition` returns
    /// a `Bool`.
    public func onErrorRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (any Error) throws -> Future<Bool>
    ) -> Deferred { rerun(.failure, delay, maxRepetitions) { .ask(try condition($0.failure!)) } }

    /// Returns work that repeats this work. After each run, `condition` gets the outcome, which is a value or
    /// an error. If `condition` returns `true`, this work runs again. If a run is cancelled, there are no
    /// more runs. `delay` and `maxRepetitions` have the same meaning as in `onErrorRepeat`.
    ///
    /// ```swift
    /// let positive = work.onResultRepeat(delay: .seconds(1)) { ($0.value ?? 0) <= 0 }
    /// ```
    @_disfavoredOverload
    public func onResultRepeat(
        delay: Duration? = nil, maxRepetitions: Int? = nil,
        when condition: @escaping (Result<Value, any Error>) -> Bool = { _ in true }
    ) -> Deferred { rerun([.success, .failure], delay, maxRepetitions) { condition($0) ? .again : .enough } }

    /// Returns work that repeats this work. After each run, `condition` gets the outcome, which is a value or
    /// an error. If the future that `condition` returns has the value `true`, this work runs again. If that
    /// future has the value `false`, fails or is cancelled, or if `condition` throws, the outcome is the
    /// outcome of the last run.
    ///
    /// `delay` and `maxRepetitions` have the same meaning as in `onErrorRepeat`.
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

    /// Returns work that runs this work until a run succeeds, but at most `attempts` times. `backoff` says
    /// how long to wait between two attempts. If `condition` returns `false` for an error, there are no more
    /// attempts. Everything else is the same as in `EventLoop.retry`.
    public func retry(
        attempts: Int = 3, backoff: Backoff = .exponential,
        using generator: (any RandomNumberGenerator)? = nil,
        when condition: @escaping (any Error) -> Bool = { _ in true }
    ) -> Deferred {
        Deferred { loop in
            loop.retry(attempts: attempts, backoff: backoff, using: generator, when: condition) { _ in
                start(on: loop)
            }
        }
    }

    /// Returns work that runs this work once and then `repetitions` more times. The outcome is an array of
    /// all the values, in the order of the runs. Between two runs, there is a wait of `delay`.
    ///
    /// If a run fails, the outcome is that failure, and there are no more runs. If `delay` is `nil`, the next
    /// run follows at once. If `delay` is zero, the next run follows after the loop has looked for timers and
    /// I/O. If `repetitions` or `delay` is negative, the work fails with ``FutureError/invalidArgument(_:)``.
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
