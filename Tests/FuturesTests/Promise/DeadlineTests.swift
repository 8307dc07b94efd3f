import Futures
import Testing

struct DeadlineTests {
    @Test(
        "a promise is cancelled or failed after a while, if it is still pending", arguments: Driver.allCases)
    func deadlines(driver: Driver) throws {
        try withLoop(driver) { loop in
            func promise(_ set: (Promise<Int>) -> Void) -> Promise<Int> {
                let promise = loop.makePromise(of: Int.self)
                set(promise)
                return promise
            }
            let cancelled = promise { $0.fail(after: .ticks(1), with: CancellationError()) }
            let failed = promise { $0.fail(after: .ticks(1), with: Failure(1)) }
            let timedOut = promise { $0.fail(after: .ticks(1)) }
            expectCancelled(cancelled.future)
            expect(failed.future, failsWith: Failure(1))
            expect(timedOut.future, failsWith: FutureError.timedOut(after: .ticks(1)))
            withExtendedLifetime((cancelled, failed, timedOut)) {}
            let both = promise {
                $0.fail(after: .ticks(2), with: Failure(2))
                $0.fail(after: .ticks(1), with: CancellationError())
            }
            expectCancelled(both.future)
            #expect(loop.statistics.timers == 0)
            #expect(!both.succeed(1))
        }
    }

    @Test("the timers of a promise end with it, however that is", arguments: Driver.allCases)
    func timersEnd(driver: Driver) throws {
        try withLoop(driver) { loop in
            func ended(by end: (inout Promise<Int>?) -> Void) -> String {
                var promise: Promise<Int>? = loop.makePromise(of: Int.self, file: "here", line: 1)
                promise?.fail(after: .seconds(100), with: CancellationError())
                promise?.fail(after: .seconds(50), with: Failure(1))
                #expect(loop.statistics.timers == 2)
                let future = promise!.future
                end(&promise)
                #expect(loop.statistics.timers == 0)
                withExtendedLifetime(promise) {}
                return "\(future.ignoreFailure())"
            }
            #expect(ended { $0?.succeed(2) } == "Future(success: 2)")
            #expect(ended { $0?.fail(Failure(3)) } == "Future(failure: Failure(code: 3))")
            #expect(ended { $0?.future.cancel() } == "Future(cancelled)")
            #expect(ended { $0 = nil }.contains("here:1"))
            let other = loop.makePromise(of: Int.self)
            #expect(ended { $0?.complete(using: other.future) } == "Future(pending)")
            other.succeed(4)
        }
    }

    @Test("a timer of a promise that a flatMap waits for ends with the flatMap", arguments: Driver.allCases)
    func timersOfLinked(driver: Driver) throws {
        try withLoop(driver) { loop in
            let inner = loop.makePromise(of: Int.self)
            let outer = loop.succeeded(1).flatMap { _ in inner.future }
            try settle(loop)
            inner.fail(after: .ticks(1), with: CancellationError())
            expectCancelled(outer)
            let second = loop.makePromise(of: Int.self)
            let other = loop.succeeded(1).flatMap { _ in second.future }
            try settle(loop)
            second.fail(after: .seconds(100))
            second.succeed(2)
            #expect(loop.statistics.timers == 0)
            try expect(other, succeedsWith: 2)
        }
    }

    @Test("a negative time fails the promise", arguments: Driver.allCases)
    func negative(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.fail(after: .seconds(-1), with: CancellationError())
            let text = "a delay of -1.0 seconds is negative; give zero or more"
            expect(promise.future, failsWith: FutureError.invalidArgument(text))
            withExtendedLifetime(promise) {}
        }
    }

    @Test("the deadlines of a promise say nothing once it waits for a future", arguments: Driver.allCases)
    func deadlinesOfLockedIn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.fail(after: .seconds(100), with: CancellationError())
            promise.fail(after: .seconds(50), with: Failure(1))
            promise.complete(using: other.future)
            try settle(loop)
            #expect(other.succeed(2))
            try expect(promise.future, succeedsWith: 2)
        }
    }

    @Test(
        "a promise that has completed takes neither a time limit nor other futures",
        arguments: Driver.allCases)
    func completed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.succeed(1)
            promise.fail(after: .seconds(50))
            promise.complete(withFirstOf: [other.future])
            #expect(loop.statistics.timers == 0)
            try expect(promise.future, succeedsWith: 1)
            #expect(other.succeed(2))
        }
    }
}
