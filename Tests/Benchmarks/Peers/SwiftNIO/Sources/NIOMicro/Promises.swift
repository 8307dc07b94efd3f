import NIOCore

extension NIOMicro {
    /// A promise, an observer of its future, and its completion.
    func promise(_ count: Int) throws {
        try repeating(count) { [loop] run in
            let promise = loop.makePromise(of: Int.self)
            promise.futureResult.whenSuccess { run.end($0, expected: 1) }
            promise.succeed(1)
        }
    }
}
