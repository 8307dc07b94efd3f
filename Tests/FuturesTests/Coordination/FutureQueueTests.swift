import Futures
import TestSupport
import Testing

struct FutureQueueTests {
    @Test(
        "of 100 operations exactly as many run at a time as may, in their order", arguments: Driver.allCases)
    func concurrency(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(resource: "database", maxConcurrent: 5, on: loop)
            var (running, peak) = (0, 0)
            var started: [Int] = []
            let all = (0..<100).map { number in
                queue.enqueue {
                    started.append(number)
                    running += 1
                    peak = max(peak, running)
                    return loop.sleep(for: .ticks(1)).map { running -= 1 }
                }
            }
            #expect(queue.resource == "database" && started.isEmpty && queue.queuedCount == 100)
            _ = try loop.run(until: Future.all(all))
            #expect(peak == 5)
            #expect(started == Array(0..<100))
        }
    }

    @Test(
        "an operation starts only when the future of the one before is done, however it ended",
        arguments: Driver.allCases)
    func serial(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let queue = FutureQueue(on: loop)
            let first = loop.makePromise(of: Int.self)
            let outcomes = [
                queue.enqueue { first.future.map { $0 + 1 } },
                queue.enqueue { () -> Future<Int> in
                    seen.add("second")
                    throw Failure(2)
                },
                queue.enqueue { loop.failed(Failure(3)) },
                queue.enqueue { loop.failed(CancellationError()) },
                queue.enqueue { () throws -> Int in throw Failure(5) },
                queue.enqueue { 6 },
            ]
            for outcome in outcomes { outcome.whenComplete { seen.add($0) } }
            try settle(loop)
            #expect(seen.entries.isEmpty && queue.runningCount == 1 && queue.queuedCount == 5)
            first.succeed(0)
            try expect(outcomes[5], succeedsWith: 6)
            #expect(
                seen.entries == [
                    "1", "second", "failed: Failure(code: 2)", "failed: Failure(code: 3)", "cancelled",
                    "failed: Failure(code: 5)", "6",
                ])
        }
    }

    @Test("a higher priority starts first, equal ones in order", arguments: Driver.allCases)
    func priority(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let queue = FutureQueue(on: loop)
            let all = [0, 5, -1, 5, 0].enumerated().map { index, priority in
                queue.enqueue(priority: priority) { seen.add("\(priority):\(index)") }
            }
            #expect(all[3].cancel())
            try loop.run(until: queue.whenEmpty())
            #expect(seen.entries == ["5:1", "0:0", "0:4", "-1:2"])
        }
    }

    @Test("what is enqueued without a priority has the priority zero")
    func noPriority() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let queue = FutureQueue(on: loop)
            queue.enqueue(priority: 0) { seen.add("first") }
            queue.enqueue { seen.add("value") }
            queue.enqueue { loop.submit { seen.add("future") } }
            queue.enqueueBatch { _ in seen.add("batch") }
            queue.enqueueBatch { _ in loop.submit { seen.add("batch with a future") } }
            queue.enqueue(priority: 0) { seen.add("last") }
            try loop.run(until: queue.whenEmpty())
            #expect(seen.entries == ["first", "value", "future", "batch", "batch with a future", "last"])
        }
    }

    @Test("a limit that is lowered just before an operation starts holds for it")
    func lowered() throws {
        try withLoop(.virtual) { loop in
            let queue = FutureQueue(maxConcurrent: 2, on: loop)
            let work = loop.makePromise(of: Void.self)
            queue.enqueue { work.future }
            try settle(loop)
            let next = queue.enqueue { loop.succeeded() }
            queue.maxConcurrent = 1
            try settle(loop)
            #expect(queue.runningCount == 1 && !next.isCompleted)
            work.succeed()
            try loop.run(until: next)
        }
    }

    @Test("the limit can be raised and lowered while operations run", arguments: Driver.allCases)
    func limit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let promises = (0..<6).map { _ in loop.makePromise(of: Void.self) }
            for promise in promises { queue.enqueue { promise.future } }
            try settle(loop)
            #expect(queue.runningCount == 1)
            queue.maxConcurrent = 3
            try settle(loop)
            #expect(queue.runningCount == 3)
            queue.maxConcurrent = 1
            promises[0].succeed()
            promises[1].succeed()
            try settle(loop)
            #expect(queue.runningCount == 1 && queue.queuedCount == 3)
            for promise in promises { promise.succeed() }
            try loop.run(until: queue.whenEmpty())
        }
    }

    @Test(
        "a callback of the last operation may enqueue another before the queue counts as empty",
        arguments: Driver.allCases)
    func emptyAfterCallbacks(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let queue = FutureQueue(on: loop)
            func visit(_ page: Int) {
                queue.enqueue { seen.add(page) }.whenSuccess { if page < 3 { visit(page + 1) } }
            }
            visit(1)
            try loop.run(until: queue.whenEmpty())
            #expect(seen.entries == ["1", "2", "3"])
        }
    }

    @Test("an empty queue says so, once each time", arguments: Driver.allCases)
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let queue = FutureQueue(on: loop)
            queue.onEmptyChange = { seen.add($0) }
            #expect(queue.isEmpty && queue.whenEmpty().isCompleted)
            let promise = loop.makePromise(of: Void.self)
            queue.enqueue { promise.future }
            queue.enqueue {}
            let empty = queue.whenEmpty()
            try settle(loop)
            #expect(seen.entries == ["false"] && !queue.isEmpty && queue.runningCount == 1)
            promise.succeed()
            try loop.run(until: empty)
            try settle(loop)
            #expect(seen.entries == ["false", "true"])
            queue.enqueue {}.cancel()
            try settle(loop)
            #expect(seen.entries == ["false", "true"])
            // A handler that comes late hears of the next change only.
            queue.enqueue {}
            queue.onEmptyChange = { seen.add("late \($0)") }
            try loop.run(until: queue.whenEmpty())
            try settle(loop)
            #expect(seen.entries == ["false", "true", "late true"])
            queue.onEmptyChange = nil
        }
    }

    @Test(
        "an abort fails all at once, cancels what runs, and leaves the queue usable",
        arguments: Driver.allCases)
    func abort(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(maxConcurrent: 2, on: loop)
            let running = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            running[1].onCancelRequest { .continue }
            let all = running.map { promise in queue.enqueue { promise.future } }
            let queued = queue.enqueue { () -> Int in
                Issue.record("the operation has run")
                return 3
            }
            try settle(loop)
            queue.abort(with: Failure(1))
            #expect((all + [queued]).allSatisfy { "\($0)" == "Future(failure: Failure(code: 1))" })
            #expect("\(running[0].future)" == "Future(cancelled)" && !running[1].future.isCompleted)
            #expect(queue.isEmpty && !queue.isClosed)
            for future in all + [queued] { future.ignoreFailure() }
            try expect(queue.enqueue { 4 }, succeedsWith: 4)
            running[1].succeed(2)
        }
    }

    @Test(
        "a closed queue runs what it has and takes nothing more; an abort may close it",
        arguments: Driver.allCases)
    func close(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let last = queue.enqueue { 1 }
            queue.close()
            queue.close(with: Failure(9))
            expect(queue.enqueue { 2 }, failsWith: FutureError.closed("queue"))
            #expect(queue.isClosed && queue.closedError as? FutureError == .closed("queue"))
            try expect(last, succeedsWith: 1)

            let aborted = FutureQueue(on: loop)
            let waiting = aborted.enqueue { 1 }
            aborted.abort(with: Failure(1), close: true)
            expect(waiting, failsWith: Failure(1))
            expect(aborted.enqueue { 2 }, failsWith: Failure(1))
            expect(aborted.enqueue { loop.succeeded(3) }, failsWith: Failure(1))
        }
    }

    @Test("an operation may abort its queue, cancel itself, and enqueue more", arguments: Driver.allCases)
    func reentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let work = loop.makePromise(of: Int.self)
            let aborting = queue.enqueue { () -> Future<Int> in
                queue.abort(with: Failure(1))
                return work.future
            }
            expect(aborting, failsWith: Failure(1))
            #expect("\(work.future)" == "Future(cancelled)")
            var itself: Future<Int>?
            itself = queue.enqueue { () -> Future<Int> in
                itself?.cancel()
                return loop.failed(Failure(2))
            }
            try settle(loop)
            #expect("\(itself!)" == "Future(cancelled)")
            itself = queue.enqueue { () -> Future<Int> in itself! }
            expect(itself!, failsWith: FutureError.cycle)
            itself = nil
            let outer = queue.enqueue { queue.enqueue { 4 } }
            try settle(loop)
            // The inner one waits for the slot of the outer one, which waits for it.
            #expect(!outer.isCompleted && queue.queuedCount == 1)
            queue.maxConcurrent = 2
            try expect(outer, succeedsWith: 4)
        }
    }

    @Test("very many operations that are ready at once need no stack, and leave other work its turn")
    func many() throws {
        try onSmallStack(.virtual) { loop in
            let queue = FutureQueue(on: loop)
            var count = 0
            for _ in 0..<largeCount { queue.enqueue { count += 1 } }
            let between = loop.submit { count }
            let countBetween = try loop.run(until: between)
            #expect(countBetween < 10)
            try loop.run(until: queue.whenEmpty())
            #expect(count == largeCount)
            for _ in 0..<largeCount { queue.enqueue { loop.succeeded() } }
            queue.abort(with: CancellationError())
            #expect(queue.isEmpty)
        }
    }

    @Test("a queue lives as long as it has something to run, and no longer", arguments: Driver.allCases)
    func lifetime(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var freed: FutureQueue<Witness>?
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            let pending = promise!.future
            let last: Future<Int>
            do {
                let queue = FutureQueue(resource: Witness(), on: loop)
                freed = queue
                queue.enqueue { pending }.ignoreFailure()
                last = queue.enqueue { 2 }
            }
            try settle(loop)
            #expect(freed != nil && !last.isCompleted)
            promise = nil
            try expect(last, succeedsWith: 2)
            try settle(loop)
            #expect(freed == nil)
        }
    }

    @Test("a shutdown fails what waits, and nothing is taken afterwards", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let running = queue.enqueue { loop.sleep(for: .seconds(1)) }
            let waiting = queue.enqueue {}
            try settle(loop)
            loop.shutdown()
            let late = queue.enqueue {}
            for future in [running, waiting, late] {
                #expect("\(future.ignoreFailure())" == "Future(failure: \(FutureError.shutDown))")
            }
        }
    }
}
