import Futures
import TestSupport
import Testing

struct EventLoopTests {
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
            #expect(TurnTests().sizes(turns.entries) == [10, 10, 5])
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
            #expect(TurnTests().sizes(turns) == [10, 4, 4, 2])
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
}
