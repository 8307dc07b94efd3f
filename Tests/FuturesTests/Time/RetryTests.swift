import Futures
import TestSupport
import Testing

struct RetryTests {
    @Test("retry ends with the first success", arguments: Driver.allCases)
    func succeeds(driver: Driver) throws {
        try withLoop(driver) { loop in
            var attempts: [Int] = []
            let future = loop.retry(attempts: 5, backoff: .constant(.ticks(1))) { attempt in
                attempts.append(attempt)
                if attempt == 1 { throw Failure(1) }
                return attempt == 2 ? loop.failed(Failure(2)) : loop.submit { attempt }
            }
            let start = loop.now
            try expect(future, succeedsWith: 3)
            #expect(attempts == [1, 2, 3])
            #expect(start.duration(to: loop.now) >= .ticks(2))
        }
    }

    @Test("retry fails with the error of the last attempt", arguments: Driver.allCases, [1, 3])
    func fails(driver: Driver, attempts: Int) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let future = loop.retry(attempts: attempts, backoff: .constant(.zero)) { attempt -> Future<Int> in
                runs = attempt
                throw Failure(attempt)
            }
            expect(future, failsWith: Failure(attempts))
            #expect(runs == attempts)
        }
    }

    @Test("an error that the condition refuses ends it, and so does cancellation", arguments: Driver.allCases)
    func condition(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            func retry(_ error: any Error) -> Future<Int> {
                loop.retry(backoff: .constant(.zero), when: { ($0 as? Failure)?.code != 2 }) { _ in
                    runs += 1
                    return loop.failed(error)
                }
            }
            expect(retry(Failure(2)), failsWith: Failure(2))
            #expect(runs == 1)
            expectCancelled(retry(CancellationError()))
            #expect(runs == 2)
            expect(retry(Failure(3)), failsWith: Failure(3))
            #expect(runs == 5)
        }
    }

    @Test(
        "a future can decide whether to retry, and if it fails the error stands", arguments: Driver.allCases)
    func asked(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            func retry(when ask: @escaping (any Error) throws -> Future<Bool>) -> Future<Int> {
                runs = 0
                return loop.retry(attempts: 4, backoff: .constant(.zero), when: ask) { attempt in
                    runs = attempt
                    throw Failure(attempt)
                }
            }
            expect(retry { error in loop.submit { error as? Failure != Failure(2) } }, failsWith: Failure(2))
            #expect(runs == 2)
            expect(retry { _ in loop.submit { true } }, failsWith: Failure(4))
            #expect(runs == 4)
            expect(retry { _ in loop.failed(Failure(9)) }, failsWith: Failure(1))
            expect(retry { _ in loop.failed(CancellationError()) }, failsWith: Failure(1))
            expect(retry { _ in throw Failure(9) }, failsWith: Failure(1))
            let question = loop.makePromise(of: Bool.self)
            let asking = retry { _ in question.future }
            try settle(loop)
            #expect(asking.cancel())
            #expect("\(question.future)" == "Future(cancelled)")
            #expect(runs == 1)
        }
    }

    @Test("the condition can have the number of attempts that remain", arguments: Driver.allCases)
    func remaining(driver: Driver) throws {
        try withLoop(driver) { loop in
            var seen: [Int] = []
            let future = loop.retry(
                attempts: 5, backoff: .constant(.zero),
                when: { _, remaining in
                    seen.append(remaining)
                    return remaining > 2
                }
            ) { attempt -> Future<Int> in throw Failure(attempt) }
            expect(future, failsWith: Failure(3))
            #expect(seen == [4, 3, 2])
        }
    }

    @Test("there are three attempts unless somebody says otherwise")
    func defaultAttempts() throws {
        try withLoop(.virtual) { loop in
            func fail(_ attempt: Int) throws -> Future<Int> { throw Failure(attempt) }
            expect(loop.retry(fail), failsWith: Failure(3))
            expect(loop.retry(when: { _, _ in true }, fail), failsWith: Failure(3))
            expect(loop.retry(when: { _ in loop.succeeded(true) }, fail), failsWith: Failure(3))
        }
    }

    @Test("jitter from a seeded generator is the same each time")
    func seeded() throws {
        try withLoop(.virtual) { loop in
            func lasts(seed: UInt64) throws -> Duration {
                let start = loop.now
                let future = loop.retry(attempts: 5, using: SeededGenerator(seed: seed)) {
                    attempt -> Future<Int> in
                    throw Failure(attempt)
                }
                expect(future, failsWith: Failure(5))
                return start.duration(to: loop.now)
            }
            let first = try lasts(seed: 1)
            #expect(try lasts(seed: 1) == first)
            #expect(try lasts(seed: 2) != first)
        }
    }

    @Test("cancelling reaches the attempt or the wait in progress", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let attempting = loop.retry { _ in promise.future }
            #expect(attempting.cancel())
            #expect("\(promise.future)" == "Future(cancelled)")
            let second = loop.makePromise(of: Int.self)
            let attemptingAgain = loop.retry(backoff: .constant(.zero)) { attempt in
                attempt == 1 ? loop.failed(Failure()) : second.future
            }
            try pass(.ticks(1), on: loop)
            #expect(attemptingAgain.cancel())
            #expect("\(second.future)" == "Future(cancelled)")
            var runs = 0
            let waiting = loop.retry(backoff: .constant(.seconds(100))) { _ -> Future<Int> in
                runs += 1
                throw Failure()
            }
            try settle(loop)
            #expect(loop.statistics.timers == 1)
            #expect(waiting.cancel())
            #expect(loop.statistics.timers == 0)
            #expect(runs == 1)
        }
    }

    @Test("many attempts run in constant memory")
    func memory() throws {
        try withLoop(.virtual) { loop in
            var peak = 0
            let future = loop.retry(attempts: 10_000, backoff: .constant(.seconds(1))) {
                attempt -> Future<Int> in
                peak = max(peak, loop.statistics.futures)
                throw Failure(attempt)
            }
            expect(future, failsWith: Failure(10_000))
            #expect(peak < 20)
        }
    }

    @Test("arguments that make no sense are refused with a clear error", arguments: Driver.allCases)
    func invalid(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectRefused(
                _ text: String, attempts: Int = 3, _ change: (inout Backoff) -> Void = { _ in }
            ) {
                var backoff = Backoff.exponential
                change(&backoff)
                let future = loop.retry(attempts: attempts, backoff: backoff) { _ in
                    Issue.record("the body has run")
                    return loop.succeeded(1)
                }
                expect(future, failsWith: FutureError.invalidArgument(text))
            }
            expectRefused("attempts must be at least 1, not 0", attempts: 0)
            expectRefused("attempts must be at least 1, not -3", attempts: -3)
            expectRefused("an initial delay of -1.0 seconds is negative; give zero or more") {
                $0.initial = .seconds(-1)
            }
            expectRefused("a maximum delay of -1.0 seconds is negative; give zero or more") {
                $0.maximum = .seconds(-1)
            }
            expectRefused("a back-off's factor must be finite and at least 1, not 0.5") { $0.factor = 0.5 }
            expectRefused("a back-off's factor must be finite and at least 1, not nan") { $0.factor = .nan }
            expectRefused("a back-off's factor must be finite and at least 1, not inf") {
                $0.factor = .infinity
            }
            expectRefused("a jitter of 1.5 is out of range; give 0 to 1") { $0.jitter = 1.5 }
            expectRefused("a jitter of -0.5 is out of range; give 0 to 1") { $0.jitter = -0.5 }
            expectRefused("a jitter of nan is out of range; give 0 to 1") { $0.jitter = .nan }
        }
    }
}
