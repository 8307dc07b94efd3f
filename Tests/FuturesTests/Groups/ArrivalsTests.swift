import Futures
import Testing

/// What a group keeps of the outcomes that have arrived.
struct ArrivalsTests {
    /// A way in which a group of three ends, after the first value has arrived.
    enum End: CaseIterable {
        case success, failure, cancellation
    }

    private static let groups: [@Sendable ([Future<Witness>]) -> Future<Void>] = [
        { Future.all($0).asVoid() },
        { Future.all($0, failFast: false).asVoid() },
        { Future.allSettled($0).asVoid() },
        { Future.reduce($0, into: 0) { total, _ in total += 1 }.asVoid() },
        { combine($0[0], $0[1], $0[2]).asVoid() },
    ]

    @Test("a group that has ended keeps no value and no member", arguments: Driver.allCases, End.allCases)
    func released(driver: Driver, end: End) throws {
        for group in Self.groups {
            try withLoop(driver) { loop in
                var released = 0
                try autoreleased(on: loop, end, group) { released += 1 }
                try settle(loop)
                #expect(released == (end == .success ? 3 : 1))
                #expect(loop.statistics.futures == 0)
            }
        }
    }

    /// Ends a group, and releases everything of it.
    private func autoreleased(
        on loop: EventLoop, _ end: End, _ group: ([Future<Witness>]) -> Future<Void>,
        released: @escaping () -> Void
    ) throws {
        let promises = (0..<3).map { _ in loop.makePromise(of: Witness.self) }
        let future = group(promises.map(\.future)).ignoreFailure()
        promises[0].succeed(Witness(released: released))
        try settle(loop)
        switch end {
        case .success: for promise in promises[1...] { promise.succeed(Witness(released: released)) }
        case .failure: for promise in promises[1...] { promise.fail(Failure()) }
        case .cancellation: future.cancel()
        }
        try settle(loop)
        #expect(future.isCompleted)
    }

    @Test("a group of nothing keeps nothing", arguments: Driver.allCases)
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            var isReleased = false
            func make() throws {
                let witness = Witness { isReleased = true }
                try expect(Future<Int>.all([], on: loop) { _, _ in witness.look() }, succeedsWith: [])
            }
            try make()
            #expect(isReleased)
        }
    }
}
