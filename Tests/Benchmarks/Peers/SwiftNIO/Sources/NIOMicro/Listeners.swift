import NIOCore

extension NIOMicro {
    /// One future with so many observers.
    func listeners(_ count: Int) throws {
        let heard = try loop.submit { [loop] in
            let promise = loop.makePromise(of: Int.self)
            let sum = Sum()
            for _ in 0..<count { promise.futureResult.whenSuccess { sum.value += $0 } }
            promise.succeed(1)
            return sum.value
        }.wait()
        precondition(heard == count)
    }
}

/// Touched on the loop's thread only.
private final class Sum: @unchecked Sendable {
    var value = 0
}
