/// A run of some work, and what decides whether another one follows.
struct Rerun<Value> {
    enum Verdict {
        /// The outcome stands.
        case enough
        case again
        /// Another run follows if the answer is `true`.
        case ask(Future<Bool>)
    }

    let loop: LoopCore
    /// The outcomes on which `decide` is called. Others stand.
    var interest: Cell.Interest = [.success, .failure]
    /// How many runs may follow the first one.
    let maxRepetitions: Int
    /// How long to wait before a repetition. The first has the number 1. `nil` goes on at once.
    let delay: (_ repetition: Int) -> Duration?
    let run: (_ repetition: Int) throws -> Future<Value>
    let decide: (Result<Value, any Error>, _ remaining: Int) throws -> Verdict

    /// Completes with the outcome of the last run. If `decide`, or the future it asks, fails, the outcome in question
    /// stands.
    func start(_ repetition: Int = 0) -> Future<Value> {
        let future: Future<Value>
        do { future = try run(repetition) } catch { future = loop.failed(error) }
        guard repetition < maxRepetitions else { return future }
        let step = FlatMapResultStep { result in follow(result, repetition) }
        // Only what fails is tried again; what succeeds is repeated.
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
    /// What is wrong with a number of repetitions or the delay before each, if anything.
    static func complaint(repetitions: Int? = nil, delay: Duration?) -> FutureError? {
        if let repetitions, repetitions < 0 {
            return .invalidArgument("\(repetitions) repetitions make no sense; give zero or more")
        }
        if let delay, delay < .zero { return negativeDuration(delay) }
        return nil
    }
}
