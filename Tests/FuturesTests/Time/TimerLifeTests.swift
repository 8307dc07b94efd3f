import Futures
import Testing

struct TimerLifeTests {
    @Test("a timer that is due can be cancelled until its body runs", arguments: Driver.allCases)
    func dueAndCancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let due = loop.now.advanced(by: .ticks(1))
            var others: [ScheduledTask<Void>] = []
            loop.schedule(at: due) {
                seen.add(others[0].future.isCancellationSupported)
                seen.add(others[0].future.cancel(.ifSupported))
                seen.add(others[1].cancel())
                seen.add(others[2].future.cancel(.evenIfOthersWaiting))
            }
            others = (0..<3).map { number in loop.schedule(at: due) { seen.add("body \(number)") } }
            others[2].future.whenCancelled { seen.add("heard of") }
            try loop.run()
            #expect(seen.entries == ["true", "true", "true", "true", "heard of"])
            others = []
        }
    }

    @Test("what a cancelled timer lets go of may make and cancel others")
    func releasesMeanwhile() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            var others = (1...8).map { number in loop.schedule(after: .ticks(number)) { seen.add(number) } }
            func schedule() -> ScheduledTask<Void> {
                let witness = Witness {
                    for index in [0, 3, 7] { #expect(others[index].cancel()) }
                    others.append(loop.schedule(after: .zero) { seen.add("new") })
                }
                return loop.schedule(after: .ticks(3)) { witness.look() }
            }
            #expect(schedule().cancel())
            #expect(loop.statistics.timers == 6)
            try loop.run()
            #expect(seen.entries == ["new", "2", "3", "5", "6", "7"])
            others = []
        }
    }

    @Test("a timer that a flatMap returns fires, or is cancelled from outside")
    func returned() throws {
        try withLoop(.virtual) { loop in
            let task = loop.schedule(after: .ticks(2)) { 1 }
            let outer = loop.succeeded().flatMap { task.future }
            let cancelled = loop.succeeded().flatMap { loop.sleep(for: .seconds(100)) }
            let ended = loop.schedule(after: .seconds(100)) { 2 }
            let hearing = loop.succeeded().flatMap { ended.future }
            try pass(.ticks(1), on: loop)
            #expect(loop.statistics.timers == 3)
            #expect(cancelled.cancel())
            #expect(ended.cancel())
            expectCancelled(hearing)
            #expect(loop.statistics.timers == 1)
            try expect(outer, succeedsWith: 1)
            #expect(!task.cancel())
        }
    }

    @Test("a timer of which nobody keeps anything fires, and is gone", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.schedule(after: .ticks(1)) { seen.add("body") }
            do { loop.sleep(for: .ticks(1)).whenSuccess { seen.add("slept") } }
            _ = loop.sleep(for: .ticks(2))
            #expect(loop.statistics.timers == 3)
            try loop.run()
            #expect(seen.entries == ["body", "slept"])
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("what a timer completes at once may cancel another that is due", arguments: Driver.allCases)
    func cancelsWhileFiring(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let due = loop.now.advanced(by: .ticks(1))
            var others: [ScheduledTask<Void>] = []
            loop.schedule(at: due, on: .immediate) {
                seen.add(others[0].cancel())
                loop.schedule(at: due) { seen.add("made meanwhile") }
            }
            others = [
                loop.schedule(at: due) { seen.add("cancelled") }, loop.schedule(at: due) { seen.add("last") },
            ]
            try loop.run()
            #expect(seen.entries == ["true", "last", "made meanwhile"])
            others = []
        }
    }
}
