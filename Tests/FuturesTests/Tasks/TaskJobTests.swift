import Futures
import Testing

struct TaskJobTests {
    @Test(
        "a body that awaits what a callback completes goes on in the same turn, without a system call",
        arguments: Driver.allCases)
    func sameTurn(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = Future(on: loop) {
                _ = try await promise.future.value
                return loop.statistics.turns
            }
            try settle(loop)
            loop.sleep(for: .ticks(1)).whenSuccess {
                seen.add(loop.statistics.turns)
                promise.succeed(1)
            }
            seen.add(try loop.run(until: future))
            #expect(seen.entries[0] == seen.entries[1])
        }
    }

    @Test(
        "the jobs of tasks count in the budget of a turn, so that timers get their chance",
        arguments: Driver.allCases)
    func budget(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let rounds = 2 * loop.turnBudget
            let busy = Future(on: loop) {
                let turns = loop.statistics.turns
                for _ in 0..<rounds { try await loop.submit {}.value }
                return loop.statistics.turns - turns
            }
            let turns = try loop.run(until: busy)
            #expect(turns >= 2)
        }
    }
}
