import Futures
import Testing

struct TimerTests {
    @Test(
        "a sleep is never early", arguments: Driver.allCases,
        [
            Duration.zero, .nanoseconds(1), .microseconds(1), .milliseconds(1), .microseconds(1_001),
            .milliseconds(7),
        ])
    func neverEarly(driver: Driver, duration: Duration) throws {
        try withLoop(driver) { loop in
            let start = loop.now
            var end: LoopInstant?
            loop.sleep(for: duration).whenSuccess { end = loop.now }
            try loop.run()
            #expect(start.duration(to: end!) >= duration)
            if driver == .virtual { #expect(start.duration(to: end!) == duration) }
        }
    }

    @Test("a timer can cancel another one of the same deadline", arguments: Driver.allCases)
    func cancelsPeer(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let due = loop.now.advanced(by: .ticks(1))
            var second: ScheduledTask<Void>?
            loop.schedule(at: due) { seen.add("\(second!.cancel())") }
            second = loop.schedule(at: due) { seen.add("second") }
            try loop.run()
            #expect(seen.entries == ["true"])
            second = nil
        }
    }

    @Test("what a timer starts is not due before the next round", arguments: Driver.allCases)
    func chain(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func again(_ left: Int) {
                seen.add(left)
                if left > 0 { loop.schedule(after: .zero) { again(left - 1) } }
            }
            loop.schedule(after: .zero) { again(3) }
            loop.schedule(after: .zero) { seen.add("other") }
            try loop.run()
            #expect(seen.entries == ["3", "other", "2", "1", "0"])
        }
    }

    @Test(
        "a timer that does not keep the loop alive fires if something else does", arguments: Driver.allCases)
    func keepsLoopAlive(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let idle = loop.schedule(after: .ticks(1), keepsLoopAlive: false) { seen.add("idle") }
            let later = loop.sleep(for: .seconds(100), keepsLoopAlive: false)
            try loop.run()
            #expect(seen.entries.isEmpty)
            loop.schedule(after: .ticks(2)) { seen.add("kept") }
            try loop.run()
            #expect(seen.entries == ["idle", "kept"])
            #expect(idle.future.isCompleted)
            #expect(later.cancel())
        }
    }
}
