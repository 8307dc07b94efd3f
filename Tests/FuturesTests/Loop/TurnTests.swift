import Dispatch
import Futures
import TestSupport
import Testing

struct TurnTests {
    @Test("a turn runs the budget of ready steps, and the next one goes on", arguments: Driver.allCases)
    func budget(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.turnBudget = 257
            loop.core.setTurnShare(.seconds(60))
            var turns: [UInt64] = []
            let count = 2 * loop.turnBudget + 10
            for _ in 0..<count { loop.submit { turns.append(loop.statistics.turns) }.whenSuccess {} }
            try loop.run()
            #expect(turns.count == count)
            #expect(sizes(turns) == [loop.turnBudget, loop.turnBudget, 10])
        }
    }

    /// How many ran in each turn.
    func sizes(_ turns: [UInt64]) -> [Int] {
        Dictionary(grouping: turns) { $0 }.sorted { $0.key < $1.key }.map(\.value.count)
    }

    @Test("what a callback makes ready runs in the same turn", arguments: Driver.allCases)
    func sameTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.core.setTurnShare(.seconds(60))
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
