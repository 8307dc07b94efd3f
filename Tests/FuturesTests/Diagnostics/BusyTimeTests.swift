import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct BusyTimeTests {
    @Test("a virtual loop is busy while a callback moves the clock, and idle while the loop waits")
    func virtual() throws {
        try withLoop(.virtual) { loop in
            loop.measureBusyTime()
            let start = loop.statistics
            loop.schedule(after: .seconds(9)) { loop.advanceWithoutRunning(by: .seconds(1)) }
            loop.advance(by: .seconds(10))
            let first = loop.statistics
            #expect(first.busy == .seconds(1) && first.idle == .seconds(9))
            #expect(first.busyShare(since: start) == 0.1)
            let wait = loop.sleep(for: .seconds(30))
            loop.later { loop.advanceWithoutRunning(by: .seconds(10)) }
            try loop.run(until: wait)
            let second = loop.statistics
            #expect(second.busy == .seconds(11) && second.idle == .seconds(29))
            #expect(second.busyShare(since: first) == 1.0 / 3)
        }
    }

    @Test("a loop that nobody runs is idle")
    func notRun() throws {
        try withLoop(.virtual) { loop in
            loop.measureBusyTime()
            try settle(loop)
            loop.advanceWithoutRunning(by: .seconds(3))
            #expect(loop.statistics.busy == .zero && loop.statistics.idle == .seconds(3))
        }
    }

    @Test("a loop that does not measure its time says nothing of it")
    func unmeasured() throws {
        try withLoop(.virtual) { loop in
            let start = loop.statistics
            loop.later { loop.advanceWithoutRunning(by: .seconds(1)) }
            loop.advance(by: .seconds(10))
            #expect(loop.statistics.busy == .zero && loop.statistics.idle == .zero)
            #expect(loop.statistics.busyShare(since: start) == 0)
        }
    }

    @Test("a loop that begins to measure within a callback counts from there, and only once")
    func withinCallback() throws {
        try withLoop(.virtual) { loop in
            var within = loop.statistics
            loop.later {
                loop.advanceWithoutRunning(by: .seconds(1))
                loop.measureBusyTime()
                loop.advanceWithoutRunning(by: .seconds(2))
                loop.measureBusyTime()
                within = loop.statistics
            }
            loop.advance(by: .seconds(10))
            #expect(within.busy == .seconds(2) && within.idle == .zero)
            #expect(loop.statistics.busy == .seconds(2) && loop.statistics.idle == .seconds(7))
            #expect(loop.dump().contains("; busy for 2000 ms, idle for 7000 ms"))
        }
    }

    @Test("a loop that is shut down keeps what it has measured", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.measureBusyTime()
            loop.schedule(after: .ticks(1)) {
                let idle = loop.statistics.idle
                #expect(idle > .zero && loop.statistics.idle == idle)
            }
            try loop.run()
            let busy = loop.statistics.busy
            loop.shutdown()
            #expect(loop.statistics.busy == busy)
        }
    }

    @Test("a real loop that computes is busy, and one that waits is idle")
    func real() throws {
        try withLoop(.libuv) { loop in
            func spin() {
                let start = loop.now
                while start.duration(to: loop.now) < .ticks(1) {}
            }
            /// Whether the loop is busy for about `share` of the time in which it runs `work`.
            func isBusy(_ share: Double, _ work: () -> Future<Void>) -> Bool {
                let before = loop.statistics
                try? loop.run(until: work())
                return abs(loop.statistics.busyShare(since: before) - share) < 0.1
            }
            let start = loop.now
            loop.measureBusyTime()
            // Other processes may keep this one from running.
            #expect(eventually { isBusy(0) { loop.sleep(for: .ticks(2)) } })
            #expect(eventually { isBusy(1) { loop.submit(spin) } })
            #expect(eventually { isBusy(0.5) { loop.sleep(for: .ticks(1)).map(spin) } })
            let all = loop.statistics
            #expect(all.busy + all.idle <= start.duration(to: loop.now))
            #expect(all.busy > .ticks(2) && all.idle > .ticks(2))
        }
    }
}
