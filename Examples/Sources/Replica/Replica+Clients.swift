import UVFutures

extension Replica {
    /// Adds an amount to the sum, once however often the request comes. A client numbers its requests.
    func add(_ amount: Int, for client: Int, number: Int) -> Future<String> {
        guard role == .leader else { return redirect() }
        let answer = loop.makePromise(of: String.self)
        waiting.append((saved.log.count + 1, saved.term, answer))
        propose(Entry(term: saved.term, client: client, number: number, amount: amount))
        return answer.future
    }

    /// Reads the sum. The leader knows all that is committed when an entry of its own term is, and that it still
    /// leads when most others say so after the request has come.
    func get() -> Future<String> {
        guard role == .leader else { return redirect() }
        let isUpToDate = committedCount > 0 && saved.log[committedCount - 1].term == saved.term
        guard isUpToDate || mistake == .readsBeforeCommit else { return loop.succeeded("retry") }
        let (term, sum) = (saved.term, counter.sum)
        guard mistake != .readsUnconfirmed else { return loop.succeeded("sum \(sum)") }
        return confirm().map { [self] isConfirmed in
            isConfirmed && role == .leader && saved.term == term ? "sum \(sum)" : "retry"
        }
    }

    /// Completes with whether most replicas follow this one.
    private func confirm() -> Future<Bool> {
        let answers = others.map { bringUpToDate($0) }
        var (followers, answered) = (1, 0)
        let promise = loop.makePromise(of: Bool.self)
        if followers >= majority { promise.succeed(true) }
        for answer in answers {
            answer.whenComplete { [self] result in
                if case .success(true) = result { followers += 1 }
                answered += 1
                if followers >= majority {
                    promise.succeed(true)
                } else if answered == answers.count {
                    promise.succeed(false)
                }
            }
        }
        return promise.future
    }

    private func redirect() -> Future<String> { loop.succeeded(leader.map { "leader \($0)" } ?? "retry") }
}
