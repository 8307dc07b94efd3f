import Futures
import FuturesTesting
import Testing

struct DisposingTests {
    @Test(
        "the clean-up runs once, before listeners, however the future ends", arguments: Driver.allCases, 0..<4
    )
    func disposes(driver: Driver, ending: Int) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>?
            let future = Future<Int>(on: loop, file: "here", line: 7) {
                seen.add("body")
                promise = $0
                return Disposer { seen.add("disposed") }
            }
            #expect(seen.entries == ["body"])
            future.whenComplete { seen.add($0) }
            future.map { $0 + 1 }.whenSuccess { seen.add($0) }
            let outcome: [String]
            switch ending {
            case 0:
                promise!.succeed(1)
                promise!.succeed(2)
                outcome = ["1", "2"]
            case 1:
                promise!.fail(Failure(1))
                outcome = ["failed: Failure(code: 1)"]
            case 2:
                promise!.cancel()
                outcome = ["cancelled"]
            default:
                promise = nil
                outcome = ["failed: \(FutureError.brokenPromise(file: "here", line: 7))"]
            }
            #expect(seen.entries == ["body", "disposed"])
            try settle(loop)
            #expect(seen.entries == ["body", "disposed"] + outcome)
        }
    }

    @Test(
        "cancelling disposes, and so does completion before the body returns, also without listeners",
        arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>?
            let future = Future<Int>(on: loop) {
                promise = $0
                return Disposer { seen.add("disposed") }
            }
            #expect(future.cancel())
            #expect(seen.entries == ["disposed"] && promise!.future.isCompleted)
            let immediate = Future<Int>(on: loop) { promise in
                promise.succeed(1)
                seen.add("returns")
                return OnlyWhenTold { seen.add("disposed at once") }
            }
            #expect(immediate.isCompleted)
            #expect(seen.entries == ["disposed", "returns", "disposed at once"])
            expect(Future<Int>(on: loop) { _ -> Disposer in throw Failure(1) }, failsWith: Failure(1))
            let going = Future<Int>(on: loop) {
                promise = $0
                $0.onCancelRequest { .continue }
                return Disposer { seen.add("at the end") }
            }
            #expect(going.cancel() && seen.entries.last == "disposed at once")
            promise!.succeed(2)
            #expect(seen.entries.last == "at the end")
            try expect(going, succeedsWith: 2)
        }
    }

    @Test("a clean-up may complete, cancel and dispose of what it likes", arguments: Driver.allCases)
    func reentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let others = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            for other in others { other.future.map { $0 }.whenComplete { seen.add($0) } }
            let source = loop.makePromise(of: Int.self)
            var last: Future<Int>?
            let future = Future<Int>(on: loop) { promise in
                promise.complete(using: source.future)
                return Disposer {
                    others[0].succeed(1)
                    others[1].fail(Failure(2))
                    others[2].future.cancel()
                    last?.cancel()
                    others[2].succeed(3)
                }
            }
            last = future.map { $0 }.map { $0 }
            #expect(last!.cancel())
            #expect(last!.isCompleted && source.future.isCompleted)
            last = nil
            try settle(loop)
            #expect(seen.entries == ["failed: Failure(code: 2)", "1", "3"])
        }
    }

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

    @Test(
        "a future that never completes can be cancelled, waited for in vain, and shut down",
        arguments: Driver.allCases)
    func never(driver: Driver) throws {
        try withLoop(driver) { loop in
            let never = loop.never(of: Int.self)
            expect(
                loop.never(of: Int.self).timeout(after: .ticks(1)),
                failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(!never.isCompleted)
            #expect(never.map { $0 }.cancel())
            expectCancelled(never)
            var last = ""
            loop.never(of: Int.self).map { $0 }.whenComplete { last = "\($0)" }
            loop.shutdown()
            #expect(last == "failure(\(FutureError.shutDown))")
        }
    }
}

/// Unlike a disposer, its release alone does nothing.
private final class OnlyWhenTold: Disposable {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func dispose() { action() }
}
