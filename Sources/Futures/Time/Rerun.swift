/// Work that may run several times, and the closures that decide about each further run.
struct Rerun<Value> {
    enum Verdict {
        /// The outcome of this run is final.
        case enough
        case again
        /// Another run follows if the value of the future is `true`.
        case ask(Future<Bool>)
    }

    let loop: LoopCore
    /// The kinds of outcome for which `decide` is called. Every other outcome is final.
    let interest: Cell.Interest
    /// The most runs that may follow the first one.
    let maxRepetitions: Int
    /// Returns the time to wait before the repetition with this number. The first repetition has the number
    /// 1. `nil` starts the repetition at once.
    let delay: (_ repetition: Int) -> Duration?
    let run: (_ repetition: Int) throws -> Future<Value>
    let decide: (Result<Value, any Error>, _ remaining: Int) throws -> Verdict

    /// Completes with the outcome of the last run. An outcome is also final if `decide` throws, or if the
    /// future that `decide` returned does not succeed.
    func start(_ repetition: Int = 0) -> Future<Value> {
        let future = loop.attempt { try run(repetition).given(to: loop) }
        guard repetition < maxRepetitions else { return future }
        let step = FlatMapResultStep { result in follow(result, repetition) }
        // A run that follows a failure is called a retry. A run that follows a success is called a
        // repetition.
        return interest == .failure
            ? future.cell.derive(Named(Retry.self, step), when: interest)
            : future.cell.derive(Named(Repeated.self, step), when: interest)
    }

    private func follow(_ result: Result<Value, any Error>, _ repetition: Int) -> Future<Value> {
        switch try? decide(result, maxRepetitions - repetition) {
        case .again:
            return startNext(repetition + 1)
        case .ask(let question):
            return question.flatMapResult { answer in
                if case .success(true) = answer { startNext(repetition + 1) } else { loop.completed(result) }
            }
        case .enough, nil:
            return loop.completed(result)
        }
    }

    private func startNext(_ repetition: Int) -> Future<Value> {
        guard !loop.isShutDown else { return loop.failed(FutureError.shutDown) }
        guard let delay = delay(repetition) else { return start(repetition) }
        return loop.sleep(for: delay).flatMap { start(repetition) }
    }
}

private enum Retry: Verb { static var verb: String { "retry" } }
private enum Repeated: Verb { static var verb: String { "a repetition" } }

extension FutureError {
    /// Returns the error for a negative number of repetitions or a negative delay. Returns `nil` if both are
    /// valid.
    static func complaint(repetitions: Int? = nil, delay: Duration?) -> FutureError? {
        if let repetitions, repetitions < 0 {
            return .invalidArgument("the number of repetitions must be at least 0, not \(repetitions)")
        }
        if let delay, delay < .zero { return negativeDuration(delay) }
        return nil
    }
}
