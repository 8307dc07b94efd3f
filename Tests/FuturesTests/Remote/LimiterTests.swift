import Dispatch
import Futures
import TestSupport
import Testing

struct LimiterTests {
    /// How many run at a time, and the most that did.
    private final class Load: Sendable {
        private let numbers = Locked((running: 0, most: 0))

        func run(_ body: () -> Void) {
            numbers.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
            body()
            numbers.withLock { $0.running -= 1 }
        }

        var running: Int { numbers.withLock { $0.running } }
        var most: Int { numbers.withLock { $0.most } }
    }

    @Test(
        "no more than the limit run at a time, and no fewer if there are enough", arguments: 1...4,
        Driver.allCases)
    func limit(limit: Int, driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = try RemoteContext.limited(maxConcurrent: limit, on: .threads)
            let (load, arrived) = (Load(), Tally())
            let (all, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let first = (0..<limit).map { _ in
                context.execute(on: loop) {
                    load.run {
                        arrived.add()
                        if arrived.sum == limit { all.signal() }
                        gate.wait()
                    }
                }
            }
            let rest = (0..<50).map { _ in context.execute(on: loop) { load.run {} } }
            all.wait()
            #expect(load.running == limit)
            for _ in first { gate.signal() }
            _ = try loop.run(until: Future.all(first + rest))
            #expect(load.most == limit)
        }
    }

    @Test("serial jobs run one after another, in order, whoever gives them", arguments: Driver.allCases)
    func serial(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .threads)
            let (load, seen) = (Load(), SharedRecord<Int>())
            let jobs = (0..<100).map { number in
                context.execute(on: loop) { load.run { seen.add(number) } }
            }
            _ = try loop.run(until: Future.all(jobs))
            #expect(seen.entries == Array(0..<100))
            #expect(load.most == 1)
        }
    }

    @Test(
        "a barrier waits for all before it, runs alone, and then the rest goes on", arguments: Driver.allCases
    )
    func barrier(driver: Driver) throws {
        try withLoop(driver) { loop in
            for context in [
                try RemoteContext.limited(maxConcurrent: 3, on: .threads),
                .queue(DispatchQueue(label: "concurrent", attributes: .concurrent)),
            ] {
                let (load, seen) = (Load(), SharedRecord<String>())
                func job(_ name: String) -> Future<Void> {
                    context.execute(on: loop) { load.run { seen.add(name) } }
                }
                func barrier() -> Future<Void> {
                    context.barrier.execute(on: loop) {
                        load.run {
                            #expect(load.running == 1)
                            seen.add("barrier")
                        }
                    }
                }
                let jobs =
                    (0..<5).map { _ in job("before") } + [barrier(), barrier()]
                    + (0..<5).map { _ in job("after") }
                _ = try loop.run(until: Future.all(jobs))
                #expect(
                    seen.entries == Array(repeating: "before", count: 5) + ["barrier", "barrier"]
                        + Array(repeating: "after", count: 5))
            }
        }
    }

    @Test(
        "a higher limit starts more at once, a lower one lets those that run go on",
        arguments: Driver.allCases)
    func adjust(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = try RemoteContext.limited(maxConcurrent: 1, on: .threads)
            let (load, started) = (Load(), DispatchSemaphore(value: 0))
            let gate = DispatchSemaphore(value: 0)
            let jobs = (0..<6).map { _ in
                context.execute(on: loop) {
                    load.run {
                        started.signal()
                        gate.wait()
                    }
                }
            }
            started.wait()
            #expect(load.running == 1)
            try context.setLimit(3)
            #expect(context.limit == 3)
            for _ in 0..<2 { started.wait() }
            #expect(load.running == 3)
            try context.setLimit(1)
            for _ in 0..<3 { gate.signal() }
            started.wait()
            try loop.run(until: Future.race(jobs, cancelRemaining: false))
            for _ in 0..<3 { gate.signal() }
            _ = try loop.run(until: Future.all(jobs))
            #expect(load.most == 3)
        }
    }

    @Test("a limit below one is refused, and so is one where there is none")
    func invalid() throws {
        let expected = FutureError.invalidArgument("maxConcurrent must be at least 1, not 0")
        #expect(throws: expected) { _ = try RemoteContext.limited(maxConcurrent: 0, on: .default) }
        let context = try RemoteContext.limited(maxConcurrent: 2, on: .default)
        #expect(throws: expected) { try context.setLimit(0) }
        #expect(context.limit == 2)
        #expect(RemoteContext.default.limit == nil)
        #expect(
            throws: FutureError.invalidArgument(
                "utility has no limit; make a context that has one with .limited(maxConcurrent:on:)")
        ) { try RemoteContext.utility.setLimit(1) }
    }

    @Test("cancelling what waits gives its place to the next, a barrier's too", arguments: Driver.allCases)
    func cancelWaiting(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = try RemoteContext.limited(maxConcurrent: 2, on: .threads)
            let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let running = context.execute(on: loop) {
                started.signal()
                gate.wait()
            }
            started.wait()
            let barrier = context.barrier.execute(on: loop) { Issue.record("it was cancelled") }
            let next = context.execute(on: loop) { 1 }
            #expect(barrier.cancel())
            try expect(next, succeedsWith: 1)
            gate.signal()
            try loop.run(until: running)
        }
    }

    @Test("cancelling what was handed on but not started gives the slot back", arguments: Driver.allCases)
    func cancelHandedOn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let jobs = SharedRecord<@Sendable () -> Void>()
            let context = RemoteContext.serial(on: .custom { jobs.add($0) })
            let first = context.execute(on: loop) { Issue.record("it was cancelled") }
            let second = context.execute(on: loop) { 2 }
            #expect(jobs.entries.count == 1)
            #expect(first.cancel())
            #expect(jobs.entries.count == 2)
            for job in jobs.entries { job() }
            try expect(second, succeedsWith: 2)
        }
    }

    @Test("a barrier is not started before its time, nor what is behind it", arguments: Driver.allCases)
    func barrierStarts(driver: Driver) throws {
        try withLoop(driver) { loop in
            let started = SharedRecord<@Sendable () -> Void>()
            let context = try RemoteContext.limited(maxConcurrent: 3, on: .custom { started.add($0) })
            let jobs = [context, context, context.barrier, context, context].map { context in
                context.execute(on: loop) {}
            }
            // How many have been started, after the end of so many.
            for (ended, count) in [2, 2, 3, 5, 5].enumerated() {
                #expect(started.entries.count == count)
                started.entries[ended]()
            }
            _ = try loop.run(until: Future.all(jobs))
        }
    }

    @Test("a job that is dropped unrun gives the slot back", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let given = Tally()
            let context = RemoteContext.serial(
                on: .custom { job in
                    given.add()
                    if given.sum > 1 { job() }
                })
            let lost = context.execute(on: loop, file: "Here.swift", line: 9) { 1 }
            expect(lost, failsWith: FutureError.brokenPromise(file: "Here.swift", line: 9))
            try expect(context.execute(on: loop) { 2 }, succeedsWith: 2)
        }
    }

    @Test(
        "a long queue over a context that runs its jobs at once needs no deep stack",
        arguments: Driver.allCases)
    func inline(driver: Driver) throws {
        try withLoop(driver) { loop in
            let jobs = SharedRecord<@Sendable () -> Void>()
            let isOpen = Tally()
            let context = RemoteContext.serial(
                on: .custom { job in
                    if isOpen.sum == 0 { jobs.add(job) } else { job() }
                })
            let runs = Tally()
            let count = 20_000 / slowShare
            let futures = (0..<count).map { _ in context.execute(on: loop) { runs.add() } }
            isOpen.add()
            let group = DispatchGroup()
            startThread(of: group) { for job in jobs.entries { job() } }
            _ = try loop.run(until: Future.all(futures))
            group.wait()
            #expect(runs.sum == count)
        }
    }

    @Test("random jobs, barriers and cancellations leave no slot behind", arguments: SeededGenerator.seeds(4))
    func randomised(seed: UInt64) throws {
        try withLoop(.libuv) { loop in
            var generator = SeededGenerator(seed: seed)
            let (limit, load) = (1 + generator.below(4), Load())
            let context = try RemoteContext.limited(maxConcurrent: limit, on: .threads)
            var futures: [Future<Void>] = []
            for _ in 0..<400 {
                switch generator.below(5) {
                case 0: futures.append(context.barrier.execute(on: loop) { load.run {} })
                case 1 where !futures.isEmpty: futures[generator.below(futures.count)].cancel()
                case 2: try settle(loop)
                default: futures.append(context.execute(on: loop) { load.run {} })
                }
            }
            for future in futures { future.ignoreFailure() }
            try loop.run()
            #expect(futures.allSatisfy { $0.isCompleted }, "seed \(seed)")
            #expect(load.most <= limit, "seed \(seed)")
            try expect(context.barrier.execute(on: loop) { 1 }, succeedsWith: 1)
        }
    }

    @Test("many cancelled jobs behind one that runs are not kept", arguments: Driver.allCases)
    func shells(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .threads)
            let gate = DispatchSemaphore(value: 0)
            let running = context.execute(on: loop) { gate.wait() }
            for _ in 0..<1000 { context.execute(on: loop) {}.cancel() }
            let last = context.execute(on: loop) { 1 }
            gate.signal()
            try loop.run(until: running)
            try expect(last, succeedsWith: 1)
        }
    }
}

extension RemoteContext {
    /// As many threads as there are jobs.
    static let threads = RemoteContext.custom(name: "threads") { job in startThread(job) { _ in } }
}
