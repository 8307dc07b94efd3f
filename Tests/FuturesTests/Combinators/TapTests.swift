import Futures
import Testing

struct TapTests {
    @Test("taps see their outcome, pass it on and make others wait for them", arguments: Driver.allCases)
    func pass(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let value = loop.succeeded(1).tap { seen.add("tap \($0)") }
                .tapError { _ in seen.add("no error") }
                .tapResult { seen.add($0) }
            value.whenSuccess { seen.add("after \($0)") }
            try expect(value, succeedsWith: 1)
            let error = loop.failed(Failure(2), of: Int.self).tap { _ in seen.add("no value") }
                .tapError { seen.add("error \($0)") }
                .tapResult { seen.add($0) }
            error.whenFailure { _ in seen.add("after") }
            expect(error, failsWith: Failure(2))
            #expect(
                seen.entries == [
                    "tap 1", "1", "after 1", "error Failure(code: 2)", "failed: Failure(code: 2)", "after",
                ])
        }
    }

    @Test("tapResult sees cancellation", arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let future = loop.failed(CancellationError(), of: Int.self)
                .tap { _ in seen.add("value") }
                .tapResult { seen.add($0) }
            expectCancelled(future)
            #expect(seen.entries == ["cancelled"])
        }
    }

    @Test("what a tap throws replaces the outcome", arguments: Driver.allCases)
    func throwing(driver: Driver) throws {
        try withLoop(driver) { loop in
            let value = loop.succeeded(1)
            expect(value.tap { _ in throw Failure(2) }, failsWith: Failure(2))
            expect(value.tapResult { _ in throw Failure(3) }, failsWith: Failure(3))
        }
    }

    @Test("always runs once for each outcome and passes it on", arguments: Driver.allCases)
    func always(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            try expect(loop.succeeded(1).always { seen.add("value") }, succeedsWith: 1)
            let error = loop.failed(Failure(2), of: Int.self).always { seen.add("error") }
            expect(error, failsWith: Failure(2))
            let cancelled = loop.failed(CancellationError(), of: Int.self).always { seen.add("cancellation") }
            expectCancelled(cancelled)
            #expect(seen.entries == ["value", "error", "cancellation"])
        }
    }

    @Test("always runs once when its own future is cancelled", arguments: Driver.allCases)
    func alwaysOnCancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.always { seen.add("always") }.map { $0 + 1 }
            #expect(future.cancel())
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries == ["always"])
            #expect(!promise.succeed(1))
        }
    }

    @Test(
        "always runs once when it is cancelled alone, or when it is already queued",
        arguments: Driver.allCases
    )
    func alwaysOnLateCancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenComplete { seen.add($0) }
            let branch = promise.future.always { seen.add("branch") }
            #expect(branch.cancel())
            try settle(loop)
            #expect(seen.entries == ["branch"])
            let queued = promise.future.always { seen.add("queued") }
            promise.succeed(1)
            #expect(queued.cancel())
            try settle(loop)
            #expect(seen.entries == ["branch", "1", "queued"])
            #expect("\(queued)" == "Future(cancelled)")
        }
    }

    @Test("always runs once when it is cancelled behind a flatMap", arguments: Driver.allCases)
    func alwaysLinked(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = loop.succeeded(0).flatMap { _ in promise.future.always { seen.add("always") } }
            try settle(loop)
            #expect(future.cancel())
            try settle(loop)
            #expect(seen.entries == ["always"])
        }
    }
}
