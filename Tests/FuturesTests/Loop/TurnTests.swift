import Dispatch
import Futures
import TestSupport
import Testing

struct TurnTests {
    @Test("a turn runs the budget of ready steps, and the next one goes on", arguments: Driver.allCases)
    func budget(driver: Driver) throws {
        try withLoop(driver) { loop in
            var turns: [UInt64] = []
            let count = 2 * loop.turnBudget + 10
            for _ in 0..<count { loop.submit { turns.append(loop.statistics.turns) }.whenSuccess {} }
            try loop.run()
            #expect(turns.count == count)
            #expect(sizes(turns) == [loop.turnBudget, loop.turnBudget, 10])
        }
    }

    enum Work: CaseIterable { case ready, nextTurn, jobs }

    @Test(
        "a turn runs as much as the loop has been told to, whoever makes the work",
        arguments: Driver.allCases, Work.allCases)
    func ownBudget(driver: Driver, work: Work) throws {
        try withLoop(driver) { loop in
            #expect(loop.turnBudget == 4096)
            loop.turnBudget = 10
            let turns = SharedRecord<UInt64>()
            for _ in 0..<25 {
                switch work {
                case .ready: loop.later { turns.add(loop.statistics.turns) }
                case .nextTurn: loop.later(on: .nextTurn) { turns.add(loop.statistics.turns) }
                case .jobs: try onThread { _ = loop.execute { turns.add(loop.statistics.turns) } }
                }
            }
            try loop.run()
            #expect(sizes(turns.entries) == [10, 10, 5])
        }
    }

    @Test("a budget that a callback sets counts from the next turn", arguments: Driver.allCases)
    func budgetSetInTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            var turns: [UInt64] = []
            loop.turnBudget = 10
            for _ in 0..<20 {
                loop.later {
                    loop.turnBudget = 4
                    turns.append(loop.statistics.turns)
                }
            }
            try loop.run()
            #expect(sizes(turns) == [10, 4, 4, 2])
        }
    }

    @Test("a loop that runs one callback a turn ends all the same", arguments: Driver.allCases)
    func smallestBudget(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.turnBudget = 1
            let promise = loop.makePromise(of: Int.self)
            var failures = 0
            for _ in 0..<10 { promise.future.whenFailure { _ in failures += 1 } }
            try loop.run(until: loop.submit {}.flatMap { loop.sleep(for: .zero) })
            loop.shutdown()
            #expect(failures == 10)
        }
    }

    /// How many ran in each turn.
    private func sizes(_ turns: [UInt64]) -> [Int] {
        Dictionary(grouping: turns) { $0 }.sorted { $0.key < $1.key }.map(\.value.count)
    }

    @Test("what a callback makes ready runs in the same turn", arguments: Driver.allCases)
    func sameTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            var turns: Set<UInt64> = []
            func descend(_ depth: Int) {
                turns.insert(loop.statistics.turns)
                if depth > 0 { loop.submit { descend(depth - 1) }.whenSuccess {} }
            }
            loop.submit { descend(100) }.whenSuccess {}
            try loop.run()
            #expect(turns.count == 1)
        }
    }

    @Test("a ready queue that is never empty starves no timer", arguments: Driver.allCases)
    func fairToTimers(driver: Driver) throws {
        try withLoop(driver) { loop in
            var (fired, steps) = (false, 0)
            func storm() -> Future<Void> {
                steps += 1
                return fired || steps == 1_000_000 ? loop.succeeded() : loop.submit {}.flatMap(storm)
            }
            loop.schedule(after: .zero) { fired = true }
            try loop.run(until: storm())
            #expect(fired)
            #expect(steps < 1_000_000)
        }
    }

    @Test("a ready queue that is never empty starves no other thread", arguments: Driver.allCases)
    func fairToThreads(driver: Driver) throws {
        try withLoop(driver) { loop in
            var goesOn = true
            func storm() -> Future<Void> { goesOn ? loop.submit {}.flatMap(storm) : loop.succeeded() }
            let group = DispatchGroup()
            startThread(of: group) { loop.stop() }
            let end = storm()
            try loop.run()
            group.wait()
            #expect(!end.isCompleted)
            goesOn = false
            try loop.run(until: end)
        }
    }

    @Test("a completion outside of all callbacks is followed by a turn", arguments: Driver.allCases)
    func outside(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenSuccess { seen.add($0) }
            try loop.run()
            promise.succeed(1)
            try loop.run()
            #expect(seen.entries == ["1"])
        }
    }
}
