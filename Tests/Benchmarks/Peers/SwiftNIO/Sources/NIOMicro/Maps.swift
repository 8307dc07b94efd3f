import NIOCore

extension NIOMicro {
    /// Chains of ten `map`s on a pending future, then its completion.
    func mapPending(_ count: Int) throws {
        try repeating(chains(count)) { [loop] run in
            let promise = loop.makePromise(of: Int.self)
            chain(promise.futureResult, run)
            promise.succeed(1)
        }
    }

    /// Chains of ten `map`s on a completed future.
    func mapCompleted(_ count: Int) throws {
        try repeating(chains(count)) { [loop] run in chain(loop.makeSucceededFuture(1), run) }
    }

    private func chain(_ first: EventLoopFuture<Int>, _ run: Run) {
        var future = first
        for _ in 0..<chainLength { future = future.map { $0 + 1 } }
        future.whenSuccess { run.end($0, expected: 1 + chainLength) }
    }
}
