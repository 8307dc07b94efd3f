import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct LoopClockTests {
    @Test("code that is generic over clocks takes virtual time in a body")
    func generic() throws {
        try withLoop(.virtual) { loop in
            let time = Future(on: loop) { try await timeIt(LoopClock(on: loop)) }
            try expect(time, succeedsWith: .seconds(3600))
            let first = Future(on: loop) {
                try await Task.sleep(for: .seconds(2), tolerance: .seconds(1), clock: LoopClock(on: loop))
                return loop.now
            }
            let start = loop.now
            try expect(first, succeedsWith: start.advanced(by: .seconds(2)))
        }
    }

    @Test("a clock is that of its loop in a task elsewhere, too", arguments: Driver.allCases)
    func elsewhere(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let clock = LoopClock(on: loop)
            let time = try await Task.detached {
                try await clock.measure {
                    try await clock.sleep(for: .ticks(2))
                    try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)))
                }
            }
            .value
            #expect(time >= .ticks(2))
            if driver == .virtual { #expect(time == .ticks(2)) }
            let times = [clock.now, loop.now, try await loop.run { clock.now }]
            #expect(times == times.sorted())
            #expect(clock.minimumResolution == .nanoseconds(1))
        }
    }

    @Test(
        "a task that is cancelled sleeps no longer", arguments: Driver.allCases, [false, true])
    func cancelled(driver: Driver, early: Bool) async throws {
        // The clock of a virtual loop would go on to the end of the sleep.
        guard driver == .libuv else { return }
        try await withRunningLoop(driver) { loop in
            let task = Task.detached { try await LoopClock(on: loop).sleep(for: .seconds(1000)) }
            if !early { while try await loop.run({ loop.statistics.timers }) == 0 {} }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let timers = try await loop.run { loop.statistics.timers }
            #expect(timers == 0)
        }
    }

    @Test("a body that is cancelled sleeps no longer")
    func cancelledBody() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let body = Future(on: loop) {
                do { try await LoopClock(on: loop).sleep(for: .seconds(1000)) } catch { seen.add(error) }
            }
            loop.advance(by: .seconds(999))
            #expect(loop.statistics.timers == 1)
            body.cancel()
            try settle(loop)
            #expect(seen.entries == ["CancellationError()"])
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("a loop that is shut down ends the sleep", arguments: Driver.allCases)
    func shutdown(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let (group, ended, clock) = (DispatchGroup(), SharedRecord<String>(), LoopClock(on: loop))
            let body = Future(on: loop) {
                do { try await clock.sleep(for: .seconds(1000)) } catch { ended.add("\(error)") }
            }
            let begins = DispatchSemaphore(value: 0)
            group.enter()
            Task.detached {
                begins.signal()
                for _ in 0..<2 {
                    do { try await clock.sleep(for: .seconds(1000)) } catch { ended.add("\(error)") }
                }
                group.leave()
            }
            begins.wait()
            while loop.statistics.timers < 2 { try settle(loop) }
            loop.shutdown()
            group.wait()
            withExtendedLifetime(body) {}
            #expect(ended.entries == Array(repeating: "\(FutureError.shutDown)", count: 3))
        }
    }
}

/// What code of any library does that takes a clock.
private func timeIt<C: Clock>(_ clock: C) async throws -> C.Duration where C.Duration == Duration {
    let start = clock.now
    try await clock.sleep(until: start.advanced(by: .seconds(3600)), tolerance: nil)
    return start.duration(to: clock.now)
}
