import UVFutures

extension Micro {
    /// Chains of ten `map`s on a pending future, then its completion.
    func mapPending(_ count: Int) throws {
        try repeating(chains(count)) { [loop] run in
            let promise = loop.makePromise(of: Int.self)
            chain(promise.future, run)
            promise.succeed(1)
        }
    }

    /// Chains of ten `map`s on a completed future.
    func mapCompleted(_ count: Int) throws {
        try repeating(chains(count)) { [loop] run in chain(loop.succeeded(1), run) }
    }

    /// The same on a loop that carries an optional task-local, which has no value.
    func mapCarryingNone(_ count: Int) throws {
        loop.carries(Request.$id)
        try mapPending(count)
    }

    /// The same where the task-local has a value.
    func mapCarryingValue(_ count: Int) throws {
        loop.carries(Request.$id)
        try Request.$id.withValue("r-17") { try mapPending(count) }
    }

    private func chain(_ first: Future<Int>, _ run: Run) {
        var future = first
        for _ in 0..<chainLength { future = future.map { $0 + 1 } }
        future.whenSuccess { run.end($0, expected: 1 + chainLength) }
    }
}

private enum Request {
    @TaskLocal static var id: String?
}
