import Futures
import TestSupport
import Testing

struct BackoffTests {
    @Test("waits grow by the factor up to the maximum")
    func growth() throws {
        try withLoop(.virtual) { loop in
            let backoff = Backoff.exponential(
                initial: .seconds(1), factor: 3, maximum: .seconds(10), jitter: 0)
            let start = loop.now
            var starts: [Double] = []
            let future = loop.retry(attempts: 5, backoff: backoff) { _ -> Future<Int> in
                starts.append(start.duration(to: loop.now) / .seconds(1))
                throw Failure()
            }
            expect(future, failsWith: Failure())
            #expect(starts == [0, 1, 4, 13, 23])
        }
    }

    @Test("jitter shortens and lengthens waits by up to its share")
    func jitter() {
        var generator = SeededGenerator()
        let backoff = Backoff.exponential(initial: .seconds(1), maximum: .seconds(100), jitter: 0.25)
        let waits = (0..<1000).map { _ in backoff.delay(afterAttempt: 2, using: &generator) / .seconds(1) }
        #expect(waits.allSatisfy { (1.5...2.5).contains($0) })
        #expect(waits.min()! < 1.6 && waits.max()! > 2.4)
        let limited = Backoff.exponential(initial: .seconds(1), maximum: .seconds(1), jitter: 1)
        #expect(
            (0..<1000).allSatisfy { _ in limited.delay(afterAttempt: 1, using: &generator) <= .seconds(1) })
    }

    @Test("the default waits about 100 ms, then twice as long each time, up to 30 s")
    func defaults() {
        var backoff = Backoff.exponential
        #expect(backoff.jitter == 0.2)
        backoff.jitter = 0
        var generator = SeededGenerator()
        let waits = [1, 2, 3, 9, 10, 1_000_000].map { backoff.delay(afterAttempt: $0, using: &generator) }
        #expect(
            waits == [
                .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(25_600),
                .seconds(30),
                .seconds(30),
            ])
    }

    @Test("the wait after a number of attempts beyond all bounds is known at once")
    func many() {
        var generator = SeededGenerator()
        for factor in [1, 1.000_000_1, 2, 1e300] {
            let slow = Backoff.exponential(
                initial: .seconds(1), factor: factor, maximum: .seconds(5), jitter: 0)
            let expected = Duration.seconds(factor == 1 ? 1 : 5)
            #expect(slow.delay(afterAttempt: .max, using: &generator) == expected)
        }
    }

    @Test("a back-off beyond all bounds waits for the maximum")
    func huge() {
        var generator = SeededGenerator()
        let steep = Backoff.exponential(initial: .seconds(1), factor: 1e300, maximum: .seconds(5), jitter: 0)
        #expect(steep.delay(afterAttempt: 1_000, using: &generator) == .seconds(5))
        let late = Backoff.exponential(initial: .seconds(Int64.max), maximum: .seconds(Int64.max), jitter: 0)
        for attempt in [1, 1_000] {
            #expect(late.delay(afterAttempt: attempt, using: &generator) == .seconds(Int64.max))
        }
        #expect(Backoff.exponential(initial: .zero).delay(afterAttempt: 9, using: &generator) == .zero)
        let still = Backoff.exponential(initial: .zero, factor: 1e300)
        #expect(still.delay(afterAttempt: 1_000, using: &generator) == .zero)
    }

    @Test("a back-off without jitter takes no random number")
    func noJitter() {
        var generator = SeededGenerator()
        var untouched = generator
        _ = Backoff.constant(.seconds(1)).delay(afterAttempt: 1, using: &generator)
        #expect(generator.next() == untouched.next())
    }
}
