import Dispatch
import Futures
import TestSupport
import Testing

struct RunTests {
    @Test("run returns when nothing is left to do, and can be called again", arguments: Driver.allCases)
    func idle(driver: Driver) throws {
        try withLoop(driver) { loop in
            try loop.run()
            let seen = Record()
            loop.schedule(after: .ticks(1)) { loop.submit {}.whenSuccess { seen.add("done") } }
            let forgotten = loop.makePromise(of: Int.self)
            try loop.run()
            #expect(seen.entries == ["done"])
            try loop.run()
            forgotten.cancel()
        }
    }

    @Test("run(until:) returns the value or throws the error", arguments: Driver.allCases)
    func until(driver: Driver) throws {
        try withLoop(driver) { loop in
            let value = try loop.run(until: loop.sleep(for: .ticks(1)).map { 1 })
            #expect(value == 1)
            #expect(throws: Failure(1)) { try loop.run(until: loop.submit { throw Failure(1) }) }
            #expect(throws: CancellationError.self) {
                try loop.run(until: loop.submit { throw CancellationError() })
            }
            let completed = try loop.run(until: loop.succeeded(2))
            #expect(completed == 2)
            #expect(throws: Failure(3)) { try loop.run(until: loop.failed(Failure(3), of: Int.self)) }
        }
    }

    @Test("run(until:) leaves later work for later", arguments: Driver.allCases)
    func untilLeavesRest(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.schedule(after: .ticks(10)) { seen.add("later") }
            try loop.run(until: loop.sleep(for: .ticks(1)))
            try loop.run(until: loop.succeeded())
            #expect(seen.entries.isEmpty)
            try loop.run()
            #expect(seen.entries == ["later"])
        }
    }

    @Test("run(until:) throws stalled when nothing can complete the future", arguments: Driver.allCases)
    func stalled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            loop.sleep(for: .ticks(1)).whenSuccess {}
            #expect(throws: FutureError.stalled) { try loop.run(until: promise.future) }
            #expect(throws: FutureError.stalled) { try loop.run(until: promise.future.map { $0 }) }
            promise.cancel()
        }
    }

    @Test("stop ends the run, and only that one", arguments: Driver.allCases)
    func stop(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.schedule(after: .ticks(1)) {
                seen.add("stop")
                loop.stop()
                loop.schedule(after: .ticks(1)) { seen.add("later") }
            }
            try loop.run()
            #expect(seen.entries == ["stop"])
            try loop.run()
            #expect(seen.entries == ["stop", "later"])
        }
    }

    @Test("stop before a run ends it at once, and only the next one", arguments: Driver.allCases)
    func stopBefore(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.schedule(after: .ticks(1)) { seen.add("timer") }
            loop.stop()
            loop.stop()
            try loop.run()
            #expect(seen.entries.isEmpty)
            try loop.run()
            #expect(seen.entries == ["timer"])
            loop.stop()
            let future = loop.submit { 1 }
            #expect(throws: FutureError.stopped) { try loop.run(until: future) }
            try expect(future, succeedsWith: 1)
        }
    }

    @Test("stop makes run(until:) throw stopped, unless the future has completed", arguments: Driver.allCases)
    func stopUntil(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            loop.submit { loop.stop() }.whenSuccess {}
            #expect(throws: FutureError.stopped) { try loop.run(until: promise.future) }
            loop.submit {
                loop.stop()
                promise.succeed(1)
            }.whenSuccess {}
            try expect(promise.future, succeedsWith: 1)
            let seen = Record()
            loop.schedule(after: .ticks(1)) { seen.add("timer") }
            try loop.run()
            #expect(seen.entries == ["timer"])
        }
    }

    @Test("stop works from another thread", arguments: Driver.allCases)
    func stopFromThread(driver: Driver) throws {
        try withLoop(driver) { loop in
            let forever = loop.repeat(every: .ticks(1)) {}
            let group = DispatchGroup()
            loop.schedule(after: .ticks(1)) { startThread(of: group) { loop.stop() } }
            try loop.run()
            group.wait()
            #expect(!forever.future.isCompleted)
            forever.cancel()
        }
    }

    @Test("a future that a stopped run has waited for ends no later run", arguments: Driver.allCases)
    func stoppedWait(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            loop.submit { loop.stop() }.whenSuccess {}
            #expect(throws: FutureError.stopped) { try loop.run(until: promise.future) }
            let seen = Record()
            loop.schedule(after: .ticks(1)) { promise.succeed(1) }
            loop.schedule(after: .ticks(2)) { seen.add("timer") }
            try loop.run()
            #expect(seen.entries == ["timer"])
        }
    }
}
