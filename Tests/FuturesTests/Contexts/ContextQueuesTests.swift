import Futures
import FuturesTesting
import TestSupport
import Testing

struct ContextQueuesTests {
    @Test(
        "a callback of the next turn runs after the driver has polled once",
        arguments: Driver.allCases)
    func nextTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            nonisolated(unsafe) let jobs = seen
            let turns = loop.submit {
                loop.submit(on: .nextTurn) {
                    seen.add("next turn")
                    return loop.statistics.turns
                }.tap { _ in seen.add("end") }
            }
            let start = loop.submit {
                // Heard of by polling only.
                try onThread { _ = loop.execute { unsafe jobs.add("polled") } }
                loop.submit { seen.add("ready") }.whenComplete { _ in }
                return loop.statistics.turns
            }
            let first = try loop.run(until: start)
            let second = try loop.run(until: turns.flatMap { $0 })
            #expect(seen.entries == ["ready", "polled", "next turn", "end"])
            #expect(second - first <= 3)
        }
    }

    @Test("callbacks of the next turn that go on for ever starve nobody", arguments: Driver.allCases)
    func endlessTurns(driver: Driver) throws {
        try withLoop(driver) { loop in
            let before = loop.statistics.turns
            var runs = 0
            func again() {
                loop.submit(on: .nextTurn) {
                    runs += 1
                    if runs < 20_000 { again() }
                }.whenComplete { _ in }
            }
            again()
            for _ in 0..<10_000 { loop.submit(on: .nextTurn) { runs += 1 }.whenComplete { _ in } }
            try pass(.ticks(1), on: loop)
            try loop.run()
            #expect(runs >= 20_000)
            #expect(loop.statistics.turns - before >= 10_000)
        }
    }

    @Test(
        "an idle callback waits until nothing else is ready, and lets what it starts run first",
        arguments: Driver.allCases)
    func whenIdle(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var rounds = 0
            func keepBusy() {
                rounds += 1
                seen.add("busy")
                if rounds < 3 { loop.submit(on: .nextTurn, keepBusy).whenComplete { _ in } }
            }
            loop.submit(on: .whenIdle) {
                seen.add("idle 1")
                loop.submit(on: .nextTurn) { seen.add("started") }.whenComplete { _ in }
            }.whenComplete { _ in }
            loop.submit(on: .whenIdle) { seen.add("idle 2") }.whenComplete { _ in }
            loop.submit(keepBusy).whenComplete { _ in }
            // Without a timer: what waits for idleness keeps the loop running.
            try loop.run()
            #expect(seen.entries == ["busy", "busy", "busy", "idle 1", "started", "idle 2"])
        }
    }

    @Test("an idle callback waits for a timer that is due just now")
    func idleAfterTimer() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.schedule(after: .seconds(1)) { seen.add("timer") }
            loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
            // The loop is quiet now, and is stopped before it runs the idle callback.
            try loop.run(until: loop.submit(on: .nextTurn) {})
            #expect(seen.entries.isEmpty)
            loop.advanceWithoutRunning(by: .seconds(1))
            try loop.run()
            #expect(seen.entries == ["timer", "idle"])
        }
    }

    @Test("an idle callback waits as long as polling finds something", arguments: Driver.allCases)
    func idleAfterPolling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = SharedRecord<String>()
            @Sendable func poll(_ times: Int) throws {
                _ = try onThread {
                    loop.execute {
                        seen.add("polled")
                        if times > 1 { #expect(throws: Never.self) { try poll(times - 1) } }
                    }
                }
            }
            loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
            try loop.run(until: loop.submit { try poll(3) })
            try loop.run()
            #expect(seen.entries == ["polled", "polled", "polled", "idle"])
        }
    }

    @Test("shutting down runs what waits for another turn", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for context in LocalContextTests.contexts {
                promise.future.whenFailure(on: context) { _ in seen.add(context) }
                loop.submit(on: context) { seen.add("submitted \(context)") }.whenComplete { _ in }
            }
            #expect(seen.entries == ["submitted immediate"])
            loop.shutdown()
            #expect(
                Set(seen.entries)
                    == Set(LocalContextTests.contexts.flatMap { ["\($0)", "submitted \($0)"] }))
            #expect(seen.entries.count == 8)
            let late = LocalContextTests.contexts.map { context in
                loop.submit(on: context) { seen.add("late") }
            }
            for future in late { expect(future, failsWith: FutureError.shutDown) }
            #expect(seen.entries.count == 8)
            withExtendedLifetime(promise) {}
        }
    }
}
