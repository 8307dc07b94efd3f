import Futures
import FuturesTesting
import TestSupport
import Testing

struct SlotHeapTests {
    @Test("timers come and go in any order, and each of them fires when it is due, or never")
    func churn() throws {
        try withLoop(.virtual) { loop in
            var generator = SeededGenerator()
            var tasks: [ScheduledTask<Void>] = []
            var (fired, cancelled, late) = (0, 0, 0)
            for _ in 0..<200 {
                for _ in 0..<Int.random(in: 0..<100, using: &generator) {
                    let due = loop.now.advanced(by: .ticks(Int.random(in: 1..<50, using: &generator)))
                    let task = loop.schedule(at: due) {
                        fired += 1
                        if loop.now != due { late += 1 }
                    }
                    tasks.append(task)
                }
                for _ in 0..<Int.random(in: 0..<60, using: &generator) where !tasks.isEmpty {
                    let index = Int.random(in: 0..<tasks.count, using: &generator)
                    let task = tasks.remove(at: index)
                    if task.cancel() { cancelled += 1 }
                }
                #expect(loop.statistics.timers == tasks.count { !$0.future.isCompleted })
                loop.advance(by: .ticks(Int.random(in: 0..<20, using: &generator)))
            }
            let made = fired + cancelled + loop.statistics.timers
            loop.advance(by: .ticks(50))
            #expect(late == 0 && fired > 0 && cancelled > 0)
            #expect(fired + cancelled == made)
        }
    }
}
