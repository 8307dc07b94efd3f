import Futures
import Testing

struct PromiseTests {
    @Test("the first completion wins and later ones return false", arguments: Driver.allCases)
    func completesOnce(driver: Driver) throws {
        let completers: [(Promise<Int>) -> Bool] = [
            { $0.succeed(1) }, { $0.fail(Failure()) }, { $0.complete(.success(1)) },
            { $0.complete(.failure(Failure())) }, { $0.cancel() },
            { $0.complete(using: $0.future.loop.succeeded(1)) },
        ]
        try withLoop(driver) { loop in
            for first in completers {
                let promise = loop.makePromise(of: Int.self)
                #expect(first(promise))
                let outcome = "\(promise.future)"
                #expect(outcome != "Future(pending)")
                for second in completers { #expect(!second(promise)) }
                #expect("\(promise.future)" == outcome)
                promise.future.ignoreFailure()
            }
        }
    }

    @Test("a promise of nothing succeeds without a value", arguments: Driver.allCases)
    func void(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Void.self)
            #expect(promise.succeed())
            #expect(!promise.succeed(()))
            try loop.run(until: promise.future)
        }
    }

    @Test("failing with a CancellationError cancels", arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            for promise in promises {
                promise.future.whenCancelled { seen.add("cancelled") }
                promise.future.whenFailure { _ in seen.add("failed") }
            }
            promises[0].fail(CancellationError())
            promises[1].complete(.failure(CancellationError()))
            promises[2].cancel()
            try settle(loop)
            #expect(seen.entries == ["cancelled", "cancelled", "cancelled"])
        }
    }

    @Test("a dropped promise breaks its future and says where it was made", arguments: Driver.allCases)
    func broken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let line: UInt = #line + 1
            func drop() -> Future<Int> { loop.makePromise(of: Int.self).future.map { $0 } }
            let broken = FutureError.brokenPromise(file: "FuturesTests/PromiseTests.swift", line: line)
            expect(drop(), failsWith: broken)
            #expect(
                "\(broken)"
                    == "the promise made at FuturesTests/PromiseTests.swift:\(line) was dropped without "
                    + "being completed; keep it until it is completed")
            let elsewhere = loop.makePromise(of: Int.self, file: "there", line: 7).future
            expect(elsewhere, failsWith: FutureError.brokenPromise(file: "there", line: 7))
        }
    }

    @Test(
        "a completed promise is dropped silently, and so is one that another future completes",
        arguments: Driver.allCases)
    func droppedAfterwards(driver: Driver) throws {
        try withLoop(driver) { loop in
            let other = loop.makePromise(of: Int.self)
            func completed() -> Future<Int> {
                let promise = loop.makePromise(of: Int.self)
                promise.succeed(1)
                return promise.future
            }
            func lockedIn() -> Future<Int> {
                let promise = loop.makePromise(of: Int.self)
                promise.complete(using: other.future)
                return promise.future
            }
            try expect(completed(), succeedsWith: 1)
            let future = lockedIn()
            try settle(loop)
            #expect(!future.isCompleted)
            other.succeed(2)
            try expect(future, succeedsWith: 2)
        }
    }

    @Test(
        "complete(using:) takes the outcome of the other future, completed or not",
        arguments: Driver.allCases
    )
    func using(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (ready, waiting) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            #expect(ready.complete(using: loop.failed(Failure(1))))
            #expect(ready.future.isCompleted)
            expect(ready.future, failsWith: Failure(1))
            let other = loop.makePromise(of: Int.self)
            #expect(waiting.complete(using: other.future))
            #expect(!waiting.future.isCompleted)
            other.succeed(2)
            #expect(waiting.future.isCompleted)
            try expect(waiting.future, succeedsWith: 2)
        }
    }

    @Test(
        "once another future completes it, a promise is locked in",
        arguments: Driver.allCases, [false, true]
    )
    func lockedIn(driver: Driver, isShared: Bool) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let other = loop.makePromise(of: Int.self)
            if isShared { other.future.whenComplete { _ in } }
            promise.complete(using: other.future)
            #expect(!promise.succeed(1))
            #expect(!promise.fail(Failure()))
            #expect(!promise.cancel())
            #expect(!promise.complete(using: loop.succeeded(1)))
            other.succeed(2)
            try expect(promise.future, succeedsWith: 2)
        }
    }

    @Test("complete(using:) takes a request to cancel to the other future", arguments: Driver.allCases)
    func cancelLockedIn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let other = loop.makePromise(of: Int.self)
            promise.complete(using: other.future)
            #expect(promise.future.cancel())
            #expect(!other.succeed(1))
            #expect("\(promise.future)" == "Future(cancelled)")
        }
    }

    @Test("a promise refused by complete(using:) leaves the other future alone", arguments: Driver.allCases)
    func refused(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let other = loop.makePromise(of: Int.self)
            promise.succeed(1)
            #expect(!promise.complete(using: other.future))
            #expect(other.succeed(2))
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("promises that complete each other fail with cycle", arguments: Driver.allCases, [false, true])
    func cycle(driver: Driver, isShared: Bool) throws {
        try withLoop(driver) { loop in
            let alone = loop.makePromise(of: Int.self)
            alone.complete(using: alone.future)
            expect(alone.future, failsWith: FutureError.cycle)

            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            if isShared { for promise in promises { promise.future.whenComplete { _ in } } }
            for index in 0..<3 { promises[index].complete(using: promises[(index + 1) % 3].future) }
            for promise in promises { expect(promise.future, failsWith: FutureError.cycle) }

            let mapped = loop.makePromise(of: Int.self)
            mapped.complete(using: mapped.future.map { $0 + 1 })
            expect(mapped.future, failsWith: FutureError.cycle)
        }
    }
}
