import UVFutures

extension Micro {
    /// One future with so many observers.
    func listeners(_ count: Int) throws {
        try inTurn { [loop] in
            let (promise, ended) = (loop.makePromise(of: Int.self), loop.makePromise(of: Void.self))
            var sum = 0
            for _ in 0..<count {
                promise.future.whenSuccess { value in
                    sum += value
                    if sum == count { ended.succeed() }
                }
            }
            promise.succeed(1)
            return ended.future
        }
    }
}
