import Futures
import Testing

struct DelayTests {
    @Test("delay passes value and error on, so much later", arguments: Driver.allCases)
    func delay(driver: Driver) throws {
        try withLoop(driver) { loop in
            let start = loop.now
            try expect(loop.succeeded(1).delay(by: .ticks(1)), succeedsWith: 1)
            #expect(start.duration(to: loop.now) >= .ticks(1))
            expect(loop.failed(Failure(2), of: Int.self).delay(by: .ticks(1)), failsWith: Failure(2))
            #expect(start.duration(to: loop.now) >= .ticks(2))
            try expect(loop.sleep(for: .ticks(2)).map { 3 }.delay(by: .ticks(2)), succeedsWith: 3)
            #expect(start.duration(to: loop.now) >= .ticks(6))
        }
    }

    @Test("cancellation is not delayed", arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let delayed = promise.future.delay(by: .seconds(100))
            promise.cancel()
            #expect("\(delayed)" == "Future(cancelled)")
        }
    }

    @Test("timeout passes on what comes in time, and stops its timer", arguments: Driver.allCases)
    func inTime(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectOutcome(_ expected: String, after complete: (Promise<Int>) -> Bool) throws {
                let promise = loop.makePromise(of: Int.self)
                let limited = promise.future.timeout(after: .seconds(100))
                #expect(loop.statistics.timers == 1)
                #expect(complete(promise))
                #expect(loop.statistics.timers == 0)
                #expect("\(limited)" == expected)
                limited.ignoreFailure()
            }
            try expectOutcome("Future(success: 1)") { $0.succeed(1) }
            try expectOutcome("Future(failure: Failure(code: 2))") { $0.fail(Failure(2)) }
            try expectOutcome("Future(cancelled)") { $0.cancel() }
            try expect(loop.succeeded(3).timeout(after: .zero), succeedsWith: 3)
        }
    }

    @Test("timeout fails with timedOut when the time has passed, never before", arguments: Driver.allCases)
    func late(driver: Driver) throws {
        try withLoop(driver) { loop in
            let start = loop.now
            let limited = loop.makePromise(of: Int.self, file: "here", line: 1)
            expect(
                limited.future.timeout(after: .ticks(2)), failsWith: FutureError.timedOut(after: .ticks(2)))
            #expect(start.duration(to: loop.now) >= .ticks(2))
            #expect("\(FutureError.timedOut(after: .milliseconds(1_500)))" == "timed out after 1.5 seconds")
        }
    }

    @Test(
        "when the time is up the source is cancelled, up to where somebody waits", arguments: Driver.allCases)
    func cancelsSource(driver: Driver) throws {
        try withLoop(driver) { loop in
            let timedOut = FutureError.timedOut(after: .ticks(1))
            let alone = loop.makePromise(of: Int.self)
            expect(alone.future.map { $0 }.timeout(after: .ticks(1)), failsWith: timedOut)
            #expect("\(alone.future)" == "Future(cancelled)")

            let shared = loop.makePromise(of: Int.self)
            let other = shared.future.map { $0 }
            expect(shared.future.map { $0 }.timeout(after: .ticks(1)), failsWith: timedOut)
            #expect(shared.succeed(1))
            try expect(other, succeedsWith: 1)

            let stubborn = loop.makePromise(of: Int.self)
            stubborn.onCancelRequest { .continue }
            expect(stubborn.future.timeout(after: .ticks(1)), failsWith: timedOut)
            #expect(stubborn.succeed(1))
        }
    }

    @Test("a source that is not to be cancelled is left alone", arguments: Driver.allCases)
    func leavesSource(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let limited = promise.future.timeout(after: .ticks(1), cancellingSource: false)
            expect(limited, failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(promise.succeed(1))
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("the shorter of two limits counts", arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            for (inner, outer) in [(1, 50), (50, 1)] {
                let promise = loop.makePromise(of: Int.self)
                let limited = promise.future.timeout(after: .ticks(inner)).timeout(after: .ticks(outer))
                expect(limited, failsWith: FutureError.timedOut(after: .ticks(1)))
                #expect(loop.statistics.timers == 0)
                #expect(promise.future.isCompleted)
            }
        }
    }
}
