import Futures
import Testing

struct FlatMapTests {
    @Test("flatMap takes the outcome of the future that its closure returns", arguments: Driver.allCases)
    func outcome(driver: Driver) throws {
        try withLoop(driver) { loop in
            let ready = loop.succeeded(1).flatMap { loop.succeeded("\($0)") }
            try expect(ready, succeedsWith: "1")
            let failing = loop.succeeded(1).flatMap { _ in loop.failed(Failure(2), of: Int.self) }
            expect(failing, failsWith: Failure(2))
            let cancelled = loop.succeeded(1).flatMap { _ in loop.failed(CancellationError(), of: Int.self) }
            expectCancelled(cancelled)
        }
    }

    @Test("flatMap waits for a pending future, whatever its end", arguments: Driver.allCases)
    func pending(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectOuter(_ expected: String, after complete: (Promise<Int>) -> Bool) throws {
                let seen = Record()
                let inner = loop.makePromise(of: Int.self)
                let outer = loop.succeeded(0).flatMap { _ in inner.future }
                outer.whenComplete { seen.add($0) }
                try settle(loop)
                #expect(!outer.isCompleted)
                #expect(complete(inner))
                #expect(outer.isCompleted)
                try settle(loop)
                #expect(seen.entries == [expected])
            }
            try expectOuter("4") { $0.succeed(4) }
            try expectOuter("failed: Failure(code: 5)") { $0.fail(Failure(5)) }
            try expectOuter("cancelled") { $0.cancel() }
        }
    }

    @Test("an error thrown by the closure fails the future", arguments: Driver.allCases)
    func throwing(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = loop.succeeded(1).flatMap { _ -> Future<Int> in throw Failure(3) }
            expect(future, failsWith: Failure(3))
        }
    }

    @Test("flatMap passes failure and cancellation by", arguments: Driver.allCases)
    func unrun(driver: Driver) throws {
        try withLoop(driver) { loop in
            func derive(_ future: Future<Int>) -> Future<Int> {
                future.flatMap { _ in
                    Issue.record("the closure has run")
                    return loop.succeeded(0)
                }
            }
            expect(derive(loop.failed(Failure(1))), failsWith: Failure(1))
            expectCancelled(derive(loop.failed(CancellationError())))
        }
    }

    @Test("flatMapResult sees each outcome and chooses a future", arguments: Driver.allCases)
    func flatMapResult(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func see(_ result: Result<Int, any Error>) -> Future<Int> {
                seen.add(result)
                return loop.submit { seen.entries.count }
            }
            try expect(loop.succeeded(1).flatMapResult(see), succeedsWith: 1)
            try expect(loop.failed(Failure(2)).flatMapResult(see), succeedsWith: 2)
            try expect(loop.failed(CancellationError()).flatMapResult(see), succeedsWith: 3)
            #expect(seen.entries == ["1", "failed: Failure(code: 2)", "cancelled"])
            let throwing = loop.succeeded(1).flatMapResult { _ -> Future<Int> in throw Failure(3) }
            expect(throwing, failsWith: Failure(3))
        }
    }
}
