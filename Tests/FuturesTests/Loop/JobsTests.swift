import Dispatch
import TestSupport
import Testing

@testable import Futures

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

    @Test("a list of jobs that is never empty keeps no room for those that have run")
    func room() {
        let job: Futures.Job? = Futures.Job(body: {})
        var list = JobList()
        var taken = 0
        list.append(Array(repeating: job, count: 100))
        for _ in 0..<100 {
            for _ in 0..<64 where list.takeFirst() != nil { taken += 1 }
            list.append(Array(repeating: job, count: 64))
        }
        #expect(taken == 6400 && list.count == 100)
        #expect(list.jobs.count <= 200)
    }
}
