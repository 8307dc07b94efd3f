import Futures
import FuturesTesting
import Testing

struct TimersTests {
    @Test("a duration longer than time lasts for ever", arguments: Driver.allCases)
    func huge(driver: Driver) throws {
        try withLoop(driver) { loop in
            let futures = [
                loop.sleep(for: .seconds(Int64.max) * 4),
                loop.schedule(after: .seconds(Int64.max)) {}.future,
                loop.schedule(at: loop.now.advanced(by: .seconds(Int64.max))) {}.future,
                loop.makePromise(of: Void.self).future.timeout(after: .seconds(Int64.max)),
                loop.succeeded().delay(by: .seconds(Int64.max)),
                loop.repeat(every: .seconds(Int64.max)) {}.future,
            ]
            #expect(throws: FutureError.self) { try loop.run(until: futures[3]) }
            try pass(.ticks(1), on: loop)
            #expect(loop.statistics.timers == 5)
            for future in futures where !future.isCompleted { #expect(future.cancel()) }
        }
    }

    @Test("negative durations are refused with a clear error", arguments: Driver.allCases)
    func negative(driver: Driver) throws {
        try withLoop(driver) { loop in
            let negative = FutureError.invalidArgument(
                "a delay of -1.5 seconds is negative; give zero or more")
            let duration = Duration.milliseconds(-1_500)
            expect(loop.sleep(for: duration), failsWith: negative)
            expect(loop.schedule(after: duration) {}.future, failsWith: negative)
            expect(loop.succeeded(1).delay(by: duration), failsWith: negative)
            expect(loop.succeeded(1).timeout(after: duration), failsWith: negative)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("of two timers the one that is due first fires first, though both are due in centuries")
    func centuries() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let century = Duration.seconds(100 * 365 * 86_400)
            for number in [3, 1, 5, 2] { loop.schedule(after: century * number) { seen.add(number) } }
            try loop.run()
            #expect(seen.entries == ["1", "2", "3", "5"])
        }
    }

    @Test("for ever is longer than time")
    func endOfTime() throws {
        try withLoop(.virtual) { loop in
            let (forever, sleep) = (loop.never(of: String.self), loop.sleep(for: .seconds(Int64.max)))
            loop.advance(by: .seconds(Int64.max))
            #expect(sleep.isCompleted)
            #expect(!forever.isCompleted)
            #expect(forever.cancel())
        }
    }

    @Test("a part of a nanosecond counts as a nanosecond")
    func attosecond() throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            try loop.run(until: loop.sleep(for: Duration(secondsComponent: 0, attosecondsComponent: 1)))
            #expect(start.duration(to: loop.now) == .nanoseconds(1))
        }
    }
}
