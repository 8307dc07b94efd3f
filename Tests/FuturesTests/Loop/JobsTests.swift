import Dispatch
import Futures
import TestSupport
import Testing

struct JobsTests {
    @Test(
        "jobs of other threads count in the budget of a turn, and callbacks need not wait for all of them",
        arguments: Driver.allCases)
    func budget(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (jobs, runs, seen) = (3 * loop.turnBudget, Tally(), SharedRecord<Int>())
            let before = loop.statistics.turns
            try loop.run(
                until: loop.submit {
                    let group = DispatchGroup()
                    startThread(of: group) {
                        for job in 0..<jobs {
                            loop.execute {
                                runs.add()
                                if job == 0 { loop.submit { seen.add(runs.sum) }.whenSuccess {} }
                            }
                        }
                    }
                    group.wait()
                })
            try loop.run()
            #expect(runs.sum == jobs)
            #expect(seen.entries.count == 1 && seen.entries[0] < loop.turnBudget / 10)
            #expect(loop.statistics.turns - before >= 4)
        }
    }
}
