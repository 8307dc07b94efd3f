import Futures
import Testing

struct MapTests {
    @Test("map transforms the value of a pending and of a completed future", arguments: Driver.allCases)
    func map(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let pending = promise.future.map { "\($0)" }
            promise.succeed(5)
            #expect(!pending.isCompleted)
            try expect(pending, succeedsWith: "5")
            try expect(promise.future.map { $0 * 2 }, succeedsWith: 10)
        }
    }

    @Test("an error thrown by the closure of map fails its future", arguments: Driver.allCases)
    func mapThrows(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = loop.succeeded(1).map { _ -> Int in throw Failure(2) }
            expect(future, failsWith: Failure(2))
        }
    }

    @Test("a thrown CancellationError cancels", arguments: Driver.allCases)
    func mapThrowsCancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let future = loop.succeeded(1).map { _ -> Int in throw CancellationError() }
            future.whenCancelled { seen.add("cancelled") }
            future.whenFailure { _ in seen.add("failed") }
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
            #expect("\(future)" == "Future(cancelled)")
        }
    }

    @Test(
        "map passes failure and cancellation by, and releases its closure unrun",
        arguments: Driver.allCases
    )
    func mapUnrun(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let other = loop.makePromise(of: Int.self)
            weak var captured: Witness?
            func derive(_ future: Future<Int>) -> Future<Int> {
                let witness = Witness()
                captured = witness
                return future.map { value in
                    witness.look()
                    Issue.record("the closure has run")
                    return value
                }
            }
            let failing = derive(promise.future)
            promise.fail(Failure(1))
            #expect(captured == nil)
            #expect("\(failing)" == "Future(failure: Failure(code: 1))")
            failing.ignoreFailure()
            let cancelled = derive(other.future)
            other.cancel()
            #expect(captured == nil)
            #expect("\(cancelled)" == "Future(cancelled)")
        }
    }

    @Test("the closure of map is released once it has run", arguments: Driver.allCases)
    func mapReleases(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func derive() -> Future<Int> {
                let witness = Witness()
                captured = witness
                return loop.succeeded(1).map { value in
                    witness.look()
                    return value
                }
            }
            let future = derive()
            #expect(captured != nil)
            try settle(loop)
            #expect(captured == nil)
            #expect(future.isCompleted)
        }
    }

    @Test("filter passes what satisfies it, and fails with filtered otherwise", arguments: Driver.allCases)
    func filter(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.succeeded(4).filter { $0 > 3 }, succeedsWith: 4)
            expect(loop.succeeded(3).filter { $0 > 3 }, failsWith: FutureError.filtered)
            let throwing = loop.succeeded(3).filter { _ in throw Failure() }
            expect(throwing, failsWith: Failure())
            let failed = loop.failed(Failure(1), of: Int.self).filter { _ in true }
            expect(failed, failsWith: Failure(1))
        }
    }

    @Test("mapResult sees each outcome and makes a new one", arguments: Driver.allCases)
    func mapResult(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func see(_ result: Result<Int, any Error>) -> Int {
                seen.add(result)
                return seen.entries.count
            }
            try expect(loop.succeeded(1).mapResult(see), succeedsWith: 1)
            try expect(loop.failed(Failure(2)).mapResult(see), succeedsWith: 2)
            try expect(loop.failed(CancellationError()).mapResult(see), succeedsWith: 3)
            #expect(seen.entries == ["1", "failed: Failure(code: 2)", "cancelled"])
            let throwing = loop.succeeded(1).mapResult { _ -> Int in throw Failure(3) }
            expect(throwing, failsWith: Failure(3))
        }
    }
}
