import Futures
import Testing

struct FutureTests {
    @Test("a future shows its state", arguments: Driver.allCases)
    func description(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            #expect("\(promise.future)" == "Future(pending)")
            #expect(!promise.future.isCompleted)
            #expect(promise.future.result == nil)
            #expect(promise.future.loop == loop)
            promise.succeed(1)
            #expect("\(promise.future)" == "Future(success: 1)")
            #expect(promise.future.isCompleted)
            try #expect(promise.future.result?.get() == 1)
            let failed = loop.failed(Failure(2), of: Int.self).ignoreFailure()
            #expect("\(failed)" == "Future(failure: Failure(code: 2))")
            #expect(throws: Failure(2)) { try failed.result?.get() }
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            #expect("\(cancelled)" == "Future(cancelled)")
            #expect(throws: CancellationError.self) { try cancelled.result?.get() }
        }
    }

    @Test("a future says what it is, and who waits for it", arguments: Driver.allCases)
    func descriptions(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.future.debugDescription == "Future<Int>(pending, 0 waiting)")
            promise.future.whenSuccess { _ in }
            let branch = promise.future.branch()
            #expect(promise.future.debugDescription == "Future<Int>(pending, 2 waiting)")
            #expect("\(promise.future)" == "Future(pending)")
            promise.succeed(1)
            #expect(branch.debugDescription == "Future<Int>(success: 1)")
            let failed = loop.failed(Failure(2), of: Int.self).ignoreFailure()
            #expect(failed.debugDescription == "Future<Int>(failure: Failure(code: 2))")
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            #expect(cancelled.debugDescription == "Future<Int>(cancelled)")
        }
    }

    @Test("copies of a future have one identity, derived ones another", arguments: Driver.allCases)
    func identity(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            #expect(future.id == promise.future.id)
            #expect(future.id != future.branch().id)
            promise.succeed(1)
            #expect(future.id == promise.future.id)
        }
    }
}
