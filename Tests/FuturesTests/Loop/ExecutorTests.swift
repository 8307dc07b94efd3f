import Futures
import FuturesTesting
import TestSupport
import Testing

/// Actors whose executor is a loop, and tasks that prefer one.
struct ExecutorTests {
    private actor Counter {
        nonisolated let loop: EventLoop
        private(set) var count = 0

        init(_ loop: EventLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        func add() -> Int {
            #expect(loop.isCurrent)
            count += 1
            return count
        }

        /// Callbacks made in the actor are isolated to it.
        func countWhenComplete(_ future: Future<Int>) {
            future.whenSuccess { self.count += $0 }
        }

        func countLater() -> Future<Int> {
            let elsewhere = Plain()
            return Future(on: loop) {
                self.count += 1
                await elsewhere.work()
                self.count += try await self.loop.sleep(for: .ticks(1)).map { 10 }.value
                return self.count
            }
        }

        func awaitCount() async throws -> Int { try await countLater().value }

        /// How often other threads, or the system, had to wake the loop for so many awaits.
        func wakeUps(awaiting rounds: Int) async throws -> UInt64 {
            let (ready, before) = (loop.succeeded(1), loop.statistics.wakeUps)
            for _ in 0..<rounds {
                count += try await ready.value
                count += try await loop.submit { 1 }.value
            }
            return loop.statistics.wakeUps - before
        }
    }

    private actor Plain {
        func isOn(_ loop: EventLoop) -> Bool { loop.isCurrent }
        func work() {}

        func awaitPending(on loop: EventLoop) async throws -> Int {
            let first = try await loop.submit { 1 }.value
            return try await first + loop.sleep(for: .ticks(1)).map { 1 }.value
        }
    }

    @Test(
        "callbacks of futures may assume the isolation of an actor pinned to the loop",
        arguments: Driver.allCases)
    func assumeIsolated(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let counter = Counter(loop)
            let future = loop.submit { counter.assumeIsolated { $0.add() } }
            try expect(future, succeedsWith: 1)
            counter.assumeIsolated { $0.countWhenComplete(loop.succeeded(4)) }
            try settle(loop)
            #expect(counter.assumeIsolated { $0.count } == 5)
        }
    }

    @Test(
        "an asynchronous body made in an actor pinned to the loop is isolated to that",
        arguments: Driver.allCases)
    func actorBody(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let counter = Counter(loop)
            let counted = try await counter.awaitCount()
            #expect(counted == 11)
            #expect(await counter.count == 11)
        }
    }

    @Test("a call of a pinned actor from a body of its loop stays in the turn", arguments: Driver.allCases)
    func sameTurn(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let counter = Counter(loop)
            let future = Future(on: loop) {
                let turns = loop.statistics.turns
                for _ in 0..<3 { _ = await counter.add() }
                return loop.statistics.turns - turns
            }
            try expect(future, succeedsWith: 0)
            #expect(counter.assumeIsolated { $0.count } == 3)
        }
    }

    @Test(
        "an actor on its loop awaits ready and pending futures without a wake-up", arguments: Driver.allCases)
    func noWakeUp(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let counter = Counter(loop)
            let rounds = largeCount / 10
            let wakeUps = try await counter.wakeUps(awaiting: rounds)
            #expect(wakeUps == 0)
            #expect(await counter.count == 2 * rounds)
        }
    }

    @Test(
        "a task that prefers the loop runs there, with the actors that have no executor of their own",
        arguments: Driver.allCases)
    func preference(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            #expect(!loop.isCurrent)
            await withTaskExecutorPreference(loop) {
                #expect(await concurrently { loop.isCurrent })
                #expect(await Plain().isOn(loop))
                async let child = concurrently { loop.isCurrent }
                #expect(await child)
            }
            let preferring = Task<Bool, Never>(executorPreference: loop) { loop.isCurrent }
            #expect(await preferring.value)
            #expect(!loop.isCurrent)
        }
    }

    @Test(
        "a task that prefers the loop awaits futures there, isolated to nothing or to an actor",
        arguments: Driver.allCases)
    func preferenceAwaits(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let sum = try await withTaskExecutorPreference(loop) {
                var sum = 0
                for _ in 0..<100 {
                    sum += try await loop.submit { 1 }.value
                    sum += try await loop.sleep(for: .ticks(1)).map { 1 }.value
                    sum += try await loop.succeeded(1).value
                    sum += try await Plain().awaitPending(on: loop)
                }
                return sum
            }
            #expect(sum == 500)
        }
    }

    @Test(
        "jobs that another thread gives a pinned actor run in the order in which they were given",
        arguments: Driver.allCases)
    func order(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let counter = Counter(loop)
            let jobs = (1...1_000).map { _ in Task.immediate { await counter.add() } }
            for (index, job) in jobs.enumerated() { #expect(await job.value == index + 1) }
        }
    }

    @Test("a job of an actor whose loop has been shut down traps with a sentence")
    func outlived() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            loop.shutdown()
            _ = await Counter(loop).add()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("A job was given to an actor whose event loop has been shut down."))
    }

    @Test("an executor knows its loop's thread", arguments: Driver.allCases)
    func knowsThread(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.checkIsolated()
            #expect(loop.isIsolatingCurrentContext() == true)
            let elsewhere = try onThread { loop.isIsolatingCurrentContext() }
            // A virtual loop may move there, and finds out when it is asked.
            #expect(elsewhere != true)
        }
    }

    @Test("assuming a loop's isolation on another thread, or checking it there", arguments: 0..<2)
    func assumedElsewhere(call: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            let pinned = Pinned(loop)
            try onThread { if call == 0 { pinned.assumeIsolated { _ in } } else { loop.checkIsolated() } }
        }
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            printed.contains("was used off its event loop's thread.")
                || printed.contains("Incorrect actor executor assumption"))
    }

    @Test("current is the loop whose callback runs", arguments: Driver.allCases)
    func current(driver: Driver) throws {
        try withLoop(driver) { outer in
            #expect(EventLoop.current == nil)
            let sameOutside = try outer.run(until: outer.submit { EventLoop.current == outer })
            let isOne = try outer.run(
                until: outer.submit { EventLoop.current === outer && !(EventLoop.current !== outer) })
            #expect(isOne && EventLoop.current !== outer && !(EventLoop.current === outer))
            #expect(sameOutside)
            let nested = outer.submit {
                try withLoop(driver) { inner in
                    let sameInside = try inner.run(until: inner.submit { EventLoop.current == inner })
                    #expect(sameInside)
                    #expect(EventLoop.current == outer)
                }
            }
            try outer.run(until: nested)
            #expect(EventLoop.current == nil)
        }
    }
}

@concurrent
private func concurrently(_ body: @Sendable () -> Bool) async -> Bool { body() }

private actor Pinned {
    private let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
}
