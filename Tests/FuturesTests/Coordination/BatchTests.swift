import Futures
import FuturesTesting
import Testing

struct BatchTests {
    @Test("a batch keeps its slot until its future and its inner queue are done", arguments: Driver.allCases)
    func slot(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let queue = FutureQueue(resource: "file", on: loop)
            let part = loop.makePromise(of: Void.self)
            var kept: FutureQueue<String>?
            let batch = queue.enqueueBatch { inner in
                kept = inner
                #expect(inner.resource == "file" && inner.maxConcurrent == 1)
                inner.enqueue { part.future.map { seen.add("part 1") } }
                inner.enqueue {
                    inner.enqueue { seen.add("part 3") }
                    seen.add("part 2")
                }
                return loop.succeeded("done")
            }
            let next = queue.enqueue { seen.add("next") }
            try settle(loop)
            #expect(seen.entries.isEmpty && queue.runningCount == 1)
            part.succeed()
            try expect(batch, succeedsWith: "done")
            try loop.run(until: next)
            #expect(seen.entries == ["part 1", "part 2", "part 3", "next"])
            expect(kept!.enqueue { 1 }, failsWith: FutureError.closed("queue"))
        }
    }

    @Test(
        "a batch that is done when it returns waits for its parts; a failure of one is not its own",
        arguments: Driver.allCases)
    func value(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(maxConcurrent: 2, on: loop)
            var parts: [Future<Int>] = []
            let batch = queue.enqueueBatch(maxConcurrent: 7) { inner in
                parts = [
                    inner.enqueue { loop.sleep(for: .ticks(1)).map { 1 } },
                    inner.enqueue { throw Failure(2) },
                ]
                return inner.maxConcurrent
            }
            try expect(batch, succeedsWith: 7)
            #expect(parts.map { "\($0)" } == ["Future(success: 1)", "Future(failure: Failure(code: 2))"])
            parts[1].ignoreFailure()
            try expect(queue.enqueueBatch { _ in 3 }, succeedsWith: 3)
        }
    }

    @Test(
        "when a batch fails or throws, its parts fail with that, and the queue goes on",
        arguments: Driver.allCases, [false, true])
    func failure(driver: Driver, throwing: Bool) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let work = loop.makePromise(of: Int.self)
            var parts: [Future<Int>] = []
            var kept: FutureQueue<Void>?
            let batch = queue.enqueueBatch { inner -> Future<Int> in
                kept = inner
                parts = [inner.enqueue { work.future }, inner.enqueue { 2 }]
                if throwing { throw Failure(1) }
                return loop.sleep(for: .ticks(1)).map { throw Failure(1) }
            }
            let next = queue.enqueue { 3 }
            expect(batch, failsWith: Failure(1))
            for part in parts { expect(part, failsWith: Failure(1)) }
            expect(kept!.enqueue { 4 }, failsWith: Failure(1))
            #expect(throwing || work.future.isCompleted)
            try expect(next, succeedsWith: 3)
        }
    }

    @Test("cancelling a batch, or aborting its queue, ends its parts", arguments: Driver.allCases, 0..<3)
    func cancel(driver: Driver, call: Int) throws {
        try withLoop(driver) { loop in
            let queue = FutureQueue(on: loop)
            let (own, part) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
            var kept: FutureQueue<Void>?
            let batch = queue.enqueueBatch { inner in
                kept = inner
                inner.enqueue { part.future }
                return own.future
            }
            try settle(loop)
            switch call {
            case 0:
                #expect(batch.cancel())
            case 1:
                own.succeed()
                try settle(loop)
                #expect(!batch.isCompleted)
                #expect(batch.cancel())
            default:
                queue.abort(with: Failure(1))
                batch.ignoreFailure()
            }
            #expect("\(part.future)" == "Future(cancelled)")
            #expect(batch.isCompleted && queue.isEmpty && kept!.isEmpty && kept!.isClosed)
        }
    }
}
