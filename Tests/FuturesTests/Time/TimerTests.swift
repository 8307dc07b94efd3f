import Futures
import TestSupport
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

    @Test("timers fire by deadline, and equal deadlines in the order made", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let start = loop.now
            for (name, ticks) in [("a", 3), ("b", 1), ("c", 2), ("d", 1), ("e", 3), ("f", 1), ("g", 0)] {
                loop.schedule(at: start.advanced(by: .ticks(ticks))) { seen.add(name) }
            }
            try loop.run()
            #expect(seen.entries == ["g", "b", "d", "f", "c", "a", "e"])
        }
    }

    @Test("ten thousand timers, half of them cancelled, fire in order", arguments: Driver.allCases)
    func heap(driver: Driver) throws {
        try withLoop(driver) { loop in
            var generator = SeededGenerator()
            var fired: [Int] = []
            var (expected, tasks): ([Int], [ScheduledTask<Void>]) = ([], [])
            let start = loop.now
            let due = (0..<10_000).map { _ in Int.random(in: 0..<200, using: &generator) }
            for (index, delay) in due.enumerated() {
                tasks.append(
                    loop.schedule(at: start.advanced(by: .microseconds(100 * delay))) { fired.append(index) })
            }
            for index in (0..<10_000).shuffled(using: &generator).prefix(5000) {
                #expect(tasks[index].cancel())
                #expect(!tasks[index].cancel())
            }
            #expect(loop.statistics.timers == 5000)
            for (index, task) in tasks.enumerated() where !task.future.isCompleted { expected.append(index) }
            try loop.run()
            #expect(fired == expected.sorted { (due[$0], $0) < (due[$1], $1) })
            let (late, soon) = (loop.schedule(after: .ticks(2)) { 2 }, loop.schedule(after: .ticks(1)) { 1 })
            try expect(late.future, succeedsWith: 2)
            #expect(soon.future.isCompleted)
        }
    }

    @Test("schedule gives what its body returns or throws", arguments: Driver.allCases)
    func schedule(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.schedule(after: .ticks(1)) { 5 }.future, succeedsWith: 5)
            expect(loop.schedule(after: .zero) { throw Failure(6) }.future, failsWith: Failure(6))
            expectCancelled(loop.schedule(after: .zero) { throw CancellationError() }.future)
        }
    }

    @Test("an instant that has passed is due in the next turn", arguments: Driver.allCases)
    func past(driver: Driver) throws {
        try withLoop(driver) { loop in
            try pass(.ticks(1), on: loop)
            let past = loop.now.advanced(by: .seconds(-1))
            try expect(loop.schedule(at: past) { 1 }.future, succeedsWith: 1)
        }
    }

    @Test("cancelling a task releases its body at once, whoever waits", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func schedule() -> ScheduledTask<Void> {
                let witness = Witness()
                captured = witness
                return loop.schedule(after: .seconds(100)) { witness.look() }
            }
            let seen = Record()
            let task = schedule()
            task.future.whenCancelled { seen.add("cancelled") }
            #expect(!task.future.cancel())
            #expect(task.cancel())
            #expect(captured == nil)
            #expect(loop.statistics.timers == 0)
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
            #expect(!task.cancel())
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

    @Test("the body of a task is released when it has run", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func schedule() -> ScheduledTask<Void> {
                let witness = Witness()
                captured = witness
                return loop.schedule(after: .ticks(1)) { witness.look() }
            }
            let task = schedule()
            try loop.run()
            #expect(captured == nil)
            #expect(task.future.isCompleted)
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

    @Test("instants count, compare and saturate", arguments: Driver.allCases)
    func instants(driver: Driver) throws {
        try withLoop(driver) { loop in
            let now = loop.now
            let later = now.advanced(by: .seconds(2))
            #expect(now < later)
            #expect(now.duration(to: later) == .seconds(2))
            #expect(later.duration(to: now) == .seconds(-2))
            #expect(later.advanced(by: .seconds(-2)) == now)
            let (first, last) = (now.advanced(by: .seconds(Int64.min)), now.advanced(by: .seconds(Int64.max)))
            #expect(first <= now && now < last)
            #expect(first.advanced(by: .seconds(-1)) == first)
            #expect(last.advanced(by: .seconds(1)) == last)
            #expect(loop.now >= now)
        }
    }
}
