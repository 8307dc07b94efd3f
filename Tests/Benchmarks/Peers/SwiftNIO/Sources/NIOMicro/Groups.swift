import NIOCore

extension NIOMicro {
    /// Groups of `size` promised futures, from the promises to the array of the values.
    func group(_ count: Int, size: Int) throws {
        let size = min(size, count)
        try repeating(max(1, count / size)) { [loop] run in
            let promises = (0..<size).map { _ in loop.makePromise(of: Int.self) }
            EventLoopFuture.whenAllSucceed(promises.map { $0.futureResult }, on: loop).whenSuccess { values in
                run.end(values[0] + values[size - 1], expected: size - 1)
            }
            for (number, promise) in promises.enumerated() { promise.succeed(number) }
        }
    }
}
