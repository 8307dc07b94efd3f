import Futures
import Testing

struct AllSettledTests {
    @Test(
        "allSettled gives every outcome in the order of the inputs and never fails",
        arguments: Driver.allCases)
    func outcomes(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let settled = Future.allSettled(promises.map(\.future))
            promises[3].fail(Failure(3))
            promises[1].cancel()
            promises[2].succeed(2)
            try settle(loop)
            #expect(!settled.isCompleted)
            promises[0].succeed(0)
            let seen = Record()
            for result in try loop.run(until: settled) { seen.add(result) }
            #expect(seen.entries == ["0", "cancelled", "2", "failed: Failure(code: 3)"])
        }
    }

    @Test("allSettled of nothing succeeds at once", arguments: Driver.allCases)
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            let settled = Future<Int>.allSettled([], on: loop)
            #expect(settled.isCompleted)
            let results = try loop.run(until: settled)
            let inCallback = try loop.run(until: loop.submit {}.flatMap { Future<Int>.allSettled([]) })
            #expect(results.isEmpty && inCallback.isEmpty)
        }
    }

    @Test("cancelling an allSettled cancels what is pending", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let settled = Future.allSettled(promises.map(\.future))
            promises[0].succeed(0)
            #expect(settled.cancel())
            #expect(promises.map { "\($0.future)" } == ["Future(success: 0)", "Future(cancelled)"])
        }
    }

    @Test("all that waits for every input fails with the one error there was", arguments: Driver.allCases)
    func oneError(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future), failFast: false)
            promises[0].fail(Failure(1))
            promises[1].cancel()
            try settle(loop)
            #expect(!all.isCompleted)
            promises[2].succeed(2)
            expect(all, failsWith: Failure(1))
        }
    }

    @Test(
        "all that waits for every input is cancelled if one was and none failed", arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future), failFast: false)
            promises[0].cancel()
            #expect(!all.isCompleted)
            promises[1].succeed(1)
            expectCancelled(all)
            try expect(
                Future.all([loop.submit { 1 }, loop.succeeded(2)], failFast: false), succeedsWith: [1, 2])
            try expect(Future<Int>.all([], failFast: false, on: loop), succeedsWith: [])
        }
    }

    @Test("mapEach calls its closure with each outcome and index as it comes", arguments: Driver.allCases)
    func mapEach(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let mapped = Future.mapEach(promises.map(\.future)) { result, index in
                seen.add(index)
                seen.add(result)
                return "\(index)"
            }
            promises[2].succeed(22)
            promises[0].fail(Failure(1))
            try settle(loop)
            #expect(seen.entries == ["2", "22", "0", "failed: Failure(code: 1)"])
            promises[1].cancel()
            try expect(mapped, succeedsWith: ["0", "1", "2"])

            let pending = loop.makePromise(of: Int.self)
            let throwing = Future.mapEach([pending.future, loop.succeeded(1)]) { _, index -> Int in
                throw Failure(index)
            }
            expect(throwing, failsWith: Failure(1))
            #expect("\(pending.future)" == "Future(cancelled)")
        }
    }

    @Test("the first failure is told once, with its index", arguments: Driver.allCases, [true, false])
    func firstFailure(driver: Driver, failFast: Bool) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func all(_ futures: [Future<Int>]) -> Future<[Int]> {
                Future.all(futures, failFast: failFast) { error, index in seen.add("\(index): \(error)") }
            }
            try expect(all([loop.succeeded(1)]), succeedsWith: [1])
            expectCancelled(all([loop.succeeded(1), loop.failed(CancellationError())]))
            #expect(seen.entries == [])
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let group = all(promises.map(\.future))
            promises[2].fail(Failure(2))
            promises[1].fail(Failure(1))
            promises[0].succeed(0)
            #expect(throws: (any Error).self) { try loop.run(until: group.map { $0 }) }
            try settle(loop)
            #expect(seen.entries == ["2: Failure(code: 2)"])
        }
    }
}
