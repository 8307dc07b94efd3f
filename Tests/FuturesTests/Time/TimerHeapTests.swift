import Futures
import TestSupport
import Testing

struct TimerHeapTests {
    @Test("timers fire by deadline, and equal deadlines in the order made", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let start = loop.now
            for (name, ticks) in [("a", 3), ("b", 1), ("c", 2), ("d", 1), ("e", 3), ("f", 1), ("g", 0)] {
                loop.schedule(at: start.advanced(by: .ticks(ticks))) { seen.add(name) }
            }
            try loop.run()
            #expect(seen.entries == ["g", "b", "d", "f", "c", "a", "e"])
        }
    }

    @Test("ten thousand timers, half of them cancelled, fire in order", arguments: Driver.allCases)
    func heap(driver: Driver) throws {
        try withLoop(driver) { loop in
            var generator = SeededGenerator()
            var fired: [Int] = []
            var (expected, tasks): ([Int], [ScheduledTask<Void>]) = ([], [])
            let start = loop.now
            let due = (0..<10_000).map { _ in Int.random(in: 0..<200, using: &generator) }
            for (index, delay) in due.enumerated() {
                tasks.append(
                    loop.schedule(at: start.advanced(by: .microseconds(100 * delay))) { fired.append(index) })
            }
            for index in (0..<10_000).shuffled(using: &generator).prefix(5000) {
                #expect(tasks[index].cancel())
                #expect(!tasks[index].cancel())
            }
            #expect(loop.statistics.timers == 5000)
            for (index, task) in tasks.enumerated() where !task.future.isCompleted { expected.append(index) }
            try loop.run()
            #expect(fired == expected.sorted { (due[$0], $0) < (due[$1], $1) })
            let (late, soon) = (loop.schedule(after: .ticks(2)) { 2 }, loop.schedule(after: .ticks(1)) { 1 })
            try expect(late.future, succeedsWith: 2)
            #expect(soon.future.isCompleted)
        }
    }
}
