import Futures
import Testing

struct QueuedOperationTests {
    @Test(
        "cancelling what waits removes it unrun, and leaves those before it alone", arguments: Driver.allCases
    )
    func cancelQueued(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released = 0
            let queue = FutureQueue(on: loop)
            let running = loop.makePromise(of: Int.self)
            let first = queue.enqueue { running.future }
            func enqueue() -> Future<Int> {
                let witness = Witness { released += 1 }
                return queue.enqueue { () -> Int in
                    witness.look()
                    Issue.record("the operation has run")
                    return 2
                }
            }
            let queued = enqueue()
            let last = queue.enqueue { 3 }
            try settle(loop)
            #expect(released == 0)
            #expect(queued.map { $0 }.cancel())
            #expect(released == 1)
            #expect(!first.isCompleted && !running.future.isCompleted && queue.queuedCount == 1)
            running.succeed(1)
            try expect(last, succeedsWith: 3)
            expectCancelled(queued)
        }
    }

    @Test(
        "cancelling half of 100 operations frees their slots, and starts none of those in vain",
        arguments: Driver.allCases)
    func cancelHalf(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(maxConcurrent: 5, on: loop)
            var started: [Int] = []
            var cancelled = 0
            let go = loop.makePromise(of: Void.self)
            let all = (0..<100).map { number in
                queue.enqueue {
                    started.append(number)
                    guard number % 2 == 0 else { return go.future.map { number } }
                    let work = loop.sleep(for: .seconds(1_000))
                    work.whenCancelled { cancelled += 1 }
                    return work.map { number }
                }
            }
            try settle(loop)
            #expect(queue.runningCount == 5)
            for number in stride(from: 0, to: 100, by: 2) { #expect(all[number].cancel()) }
            go.succeed()
            let rest = stride(from: 1, to: 100, by: 2).map { all[$0] }
            let values = try loop.run(until: Future.all(rest))
            #expect(values.count == 50)
            #expect(started == [0, 1, 2, 3, 4] + Array(stride(from: 5, to: 100, by: 2)))
            // Somebody waits for the sleeps themselves: they are not cancelled, but hold no slot any more.
            #expect(cancelled == 0 && queue.isEmpty && loop.statistics.timers == 3)
            loop.shutdown()
        }
    }

    @Test(
        "cancelling what runs asks it to cancel; one that goes on keeps its slot", arguments: Driver.allCases)
    func cancelRunning(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let docile = loop.makePromise(of: Int.self)
            let stubborn = loop.makePromise(of: Int.self)
            stubborn.onCancelRequest { .continue }
            let first = queue.enqueue { docile.future }
            let second = queue.enqueue { stubborn.future }
            let third = queue.enqueue { 3 }
            try settle(loop)
            #expect(first.cancel() && docile.future.isCompleted)
            try settle(loop)
            #expect(second.cancel() && !second.isCompleted)
            try settle(loop)
            #expect(!third.isCompleted)
            stubborn.succeed(2)
            try expect(second, succeedsWith: 2)
            try expect(third, succeedsWith: 3)
        }
    }
}
