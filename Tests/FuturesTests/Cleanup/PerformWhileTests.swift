import Futures
import Testing

struct PerformWhileTests {
    @Test("work is done while a future is pending", arguments: Driver.allCases, 0..<3)
    func whilePending(driver: Driver, ending: Int) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.whilePending {
                seen.add("started")
                return Disposer { seen.add("disposed") }
            }
            future.tapResult { seen.add($0) }.whenComplete { _ in }
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries == ["started"])
            switch ending {
            case 0: promise.succeed(1)
            case 1: promise.fail(Failure(1))
            default: promise.cancel()
            }
            #expect(seen.entries == ["started", "disposed"])
            try settle(loop)
            let outcomes = ["1", "failed: Failure(code: 1)", "cancelled"]
            #expect(seen.entries == ["started", "disposed", outcomes[ending]])
        }
    }

    @Test("work is not started for a future that ends before", arguments: Driver.allCases)
    func performNever(driver: Driver) throws {
        try withLoop(driver) { loop in
            func work() -> any Disposable {
                Issue.record("the work was started")
                return Disposer()
            }
            try expect(loop.succeeded(1).whilePending(work), succeedsWith: 1)
            let promise = loop.makePromise(of: Int.self)
            let early = promise.future.whilePending(work)
            promise.succeed(2)
            try expect(early, succeedsWith: 2)
            let cancelled = loop.makePromise(of: Int.self)
            #expect(cancelled.future.whilePending(work).cancel())
            #expect(cancelled.future.isCompleted)
            let soon = loop.sleep(for: .ticks(1)).whilePending(delayBy: .seconds(1_000), work)
            #expect(loop.statistics.timers == 2)
            try loop.run(until: soon)
            #expect(loop.statistics.timers == 0)
            let refused = loop.succeeded(1).whilePending(delayBy: .seconds(-1), work)
            expect(
                refused,
                failsWith: FutureError.invalidArgument(
                    "a delay of -1.0 seconds is negative; give zero or more"))
        }
    }

    @Test(
        "work that is delayed starts late, and what it ends itself is disposed of, too",
        arguments: Driver.allCases)
    func performDelayed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.whilePending(delayBy: .ticks(1)) {
                seen.add("started")
                promise.succeed(1)
                return Disposer { seen.add("disposed") }
            }
            try settle(loop)
            #expect(seen.entries.isEmpty)
            try pass(.ticks(2), on: loop)
            try expect(future, succeedsWith: 1)
            #expect(seen.entries == ["started", "disposed"])
        }
    }

    @Test("a delay before the work keeps no loop alive")
    func delayed() throws {
        try withLoop(.virtual) { loop in
            let (promise, start) = (loop.makePromise(of: Int.self), loop.now)
            let future = promise.future.whilePending(delayBy: .seconds(10)) { Disposer() }
            try loop.run()
            #expect(loop.now == start && !future.isCompleted)
            promise.succeed(1)
            try expect(future, succeedsWith: 1)
        }
    }

    @Test("a clean-up that comes too deep in others runs after them")
    func deep() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            var hasRun = false
            let last = promise.future.whilePending { Disposer { hasRun = true } }
            var next: Future<Int>?
            var hadRun: Bool?
            let promises = (0..<CancelOptions.depthLimit).map { _ in loop.makePromise(of: Int.self) }
            for waiting in promises {
                let following = next
                next = waiting.future.whilePending {
                    Disposer {
                        if let following { following.cancel() } else { promise.succeed(1) }
                        if following == nil { hadRun = hasRun }
                    }
                }
            }
            try settle(loop)
            #expect(next?.cancel() == true)
            #expect(hadRun == false && hasRun && promises.allSatisfy { $0.future.isCancelled })
            try expect(last, succeedsWith: 1)
        }
    }
}
