import Futures
import Testing

struct PostponeTests {
    private let negative = FutureError.invalidArgument(
        "a delay of -1.0 seconds is negative; give zero or more")

    private func elapsed(_ loop: EventLoop, _ body: () throws -> Void) rethrows -> Duration {
        let start = loop.now
        try body()
        return start.duration(to: loop.now)
    }

    @Test("notBefore waits for the outcome and for the time, whichever is later", arguments: Driver.allCases)
    func notBefore(driver: Driver) throws {
        try withLoop(driver) { loop in
            // Before the times begin.
            let start = loop.now
            let early = loop.succeeded(1).notBefore(.ticks(4))
            let between = loop.sleep(for: .ticks(2)).map { 5 }.notBefore(.ticks(4))
            let late = loop.sleep(for: .ticks(8)).map { 2 }.notBefore(.ticks(2))
            let failed = loop.failed(Failure(3), of: Int.self).notBefore(.ticks(4))
            try expect(early, succeedsWith: 1)
            try expect(between, succeedsWith: 5)
            let first = start.duration(to: loop.now)
            #expect(first >= .ticks(4))
            expect(failed, failsWith: Failure(3))
            try expect(late, succeedsWith: 2)
            if driver == .virtual { #expect(first == .ticks(4)) }
            expect(loop.succeeded(1).notBefore(.seconds(-1)), failsWith: negative)
            let promise = loop.makePromise(of: Int.self)
            let waiting = promise.future.notBefore(.seconds(100))
            promise.cancel()
            #expect(waiting.isCancelled)
            let cancelled = loop.succeeded(4).notBefore(.seconds(100))
            try settle(loop)
            #expect(cancelled.cancel())
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("a value alone is delayed, and an error passes at once", arguments: Driver.allCases)
    func delayOfValues(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(1), of: Int.self).delay { $0.isSuccess ? .seconds(100) : nil }
            expect(failed, failsWith: Failure(1))
            let time = try elapsed(loop) {
                try expect(loop.submit { 2 }.delay { $0.isSuccess ? .ticks(2) : nil }, succeedsWith: 2)
            }
            #expect(time >= .ticks(2))
            expect(loop.succeeded(3).delay { $0.isSuccess ? .seconds(-1) : nil }, failsWith: negative)
        }
    }

    @Test("a delay depends on the outcome, and nil is none", arguments: Driver.allCases)
    func delayByOutcome(driver: Driver) throws {
        try withLoop(driver) { loop in
            func delayed(_ future: Future<Int>) -> Future<Int> {
                future.delay { $0.isSuccess ? .ticks(3) : nil }
            }
            let time = try elapsed(loop) { try expect(delayed(loop.succeeded(1)), succeedsWith: 1) }
            #expect(time >= .ticks(3))
            let failed = delayed(loop.failed(Failure(2)))
            try settle(loop)
            #expect(throws: Failure(2)) { try failed.result?.get() }
            failed.ignoreFailure()
            let zero = loop.succeeded(3).delay { _ in .zero }
            try expect(zero, succeedsWith: 3)
            expect(loop.succeeded(4).delay { _ in throw Failure(5) }, failsWith: Failure(5))
            expect(loop.succeeded(4).delay { _ in .seconds(-1) }, failsWith: negative)
        }
    }

    @Test("an outcome that comes too late is replaced", arguments: Driver.allCases)
    func replaced(driver: Driver) throws {
        try withLoop(driver) { loop in
            func late(_ replacement: FutureCompletion<Int>) -> (Promise<Int>, Future<Int>) {
                let promise = loop.makePromise(of: Int.self)
                return (promise, promise.future.timeout(after: .ticks(1), with: replacement))
            }
            let (promise, value) = late(.success(1))
            try expect(value, succeedsWith: 1)
            #expect(promise.future.isCancelled)
            let (second, failed) = late(.failure(Failure(2)))
            expect(failed, failsWith: Failure(2))
            let (third, cancelled) = late(.cancelled)
            expectCancelled(cancelled)
            let (fourth, other) = late(.using(loop.sleep(for: .ticks(2)).map { 3 }))
            try expect(other, succeedsWith: 3)
            withExtendedLifetime((promise, second, third, fourth)) {}
        }
    }

    @Test("an outcome in time is not replaced, and the timer ends", arguments: Driver.allCases)
    func inTime(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let value = promise.future.timeout(after: .seconds(100), with: .success(1))
            promise.succeed(2)
            #expect(loop.statistics.timers == 0)
            try expect(value, succeedsWith: 2)
            let kept = loop.makePromise(of: Int.self)
            let left = kept.future.timeout(after: .ticks(1), with: .success(3), cancellingSource: false)
            try expect(left, succeedsWith: 3)
            #expect(kept.succeed(4))
            let own = loop.makePromise(of: Int.self)
            #expect(own.future.timeout(after: .seconds(100), with: .success(5)).cancel())
            #expect(own.future.isCancelled && loop.statistics.timers == 0)
            expect(loop.succeeded(6).timeout(after: .seconds(-1), with: .success(7)), failsWith: negative)
        }
    }

    @Test(
        "either the outcome or the end of the time is called, and nothing is cancelled",
        arguments: Driver.allCases)
    func whenCompleteWithin(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func watch(_ future: Future<Int>, _ limit: Duration) {
                future.whenComplete(within: limit) {
                    seen.add($0)
                } timedOut: {
                    seen.add("timed out")
                }
            }
            let slow = loop.makePromise(of: Int.self)
            watch(slow.future, .ticks(1))
            watch(loop.succeeded(1), .ticks(1))
            watch(loop.failed(FutureError.timedOut(after: .zero)), .ticks(1))
            watch(loop.failed(CancellationError()), .ticks(1))
            try pass(.ticks(4), on: loop)
            #expect(slow.succeed(2))
            try settle(loop)
            let own = "failed: \(FutureError.timedOut(after: .zero))"
            #expect(seen.entries == ["1", own, "cancelled", "timed out"])
            watch(loop.succeeded(3), .seconds(-1))
            try settle(loop)
            #expect(seen.entries.last == "failed: \(negative)")
        }
    }

    @Test("whoever has waited long enough leaves the line of the future", arguments: Driver.allCases)
    func leavesAfterTime(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var timeouts = 0
            for _ in 0..<10 {
                promise.future.whenComplete(within: .ticks(1)) { _ in
                    Issue.record("it has completed")
                } timedOut: {
                    timeouts += 1
                }
            }
            try loop.run(until: loop.sleep(for: .ticks(3)))
            #expect(timeouts == 10)
            #expect(promise.future.debugDescription == "Future<Int>(pending, 0 waiting)")
            promise.succeed(1)
        }
    }

    @Test("a value, an error or any completion may come after a while", arguments: Driver.allCases)
    func later(driver: Driver) throws {
        try withLoop(driver) { loop in
            let time = try elapsed(loop) { try expect(loop.succeeded(1, after: .ticks(2)), succeedsWith: 1) }
            #expect(time >= .ticks(2))
            expect(
                loop.completed(Result<Int, any Error>.failure(Failure(2)), after: .ticks(1)),
                failsWith: Failure(2))
            expectCancelled(loop.completed(FutureCompletion<Int>.cancelled, after: .ticks(1)))
            try expect(loop.completed(loop.submit { 3 }, after: .ticks(1)), succeedsWith: 3)
            let cancelled = [
                loop.succeeded(1, after: .seconds(10)),
                loop.completed(.failure(Failure(2)), after: .seconds(10)),
                loop.completed(FutureCompletion.success(3), after: .seconds(10)),
            ]
            for future in cancelled { #expect(future.cancel() && future.isCancelled) }
            #expect(loop.statistics.timers == 0)
            expect(loop.succeeded(4, after: .seconds(-1)), failsWith: negative)
        }
    }

    @Test("forever is pending until it is cancelled, and keeps no loop alive", arguments: Driver.allCases)
    func never(driver: Driver) throws {
        try withLoop(driver) { loop in
            let forever = loop.never(of: Int.self)
            let mapped = forever.map { $0 + 1 }
            try loop.run()
            try pass(.ticks(2), on: loop)
            #expect(!mapped.isCompleted)
            #expect(mapped.cancel())
            #expect(forever.isCancelled && loop.statistics.timers == 0)
        }
        let loop = try driver.makeLoop()
        let forever = loop.never(of: Int.self).ignoreFailure()
        loop.shutdown()
        #expect(throws: FutureError.shutDown) { try forever.result?.get() }
        #expect(loop.never(of: Int.self).ignoreFailure().isFailure)
    }
}
