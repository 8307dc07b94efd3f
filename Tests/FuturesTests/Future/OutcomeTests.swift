import Futures
import Testing

struct OutcomeTests {
    private typealias Outcome = Result<Int, any Error>

    @Test("a result says whether it is a value, an error or cancellation")
    func members() throws {
        struct Aborted: CancellationIndicating { var isCancellation: Bool }
        let success = Outcome.success(1)
        #expect(success.isSuccess && !success.isCancelled)
        #expect(success.value == 1)
        let failure = Outcome.failure(Failure(2))
        #expect(!failure.isSuccess && !failure.isCancelled)
        #expect(failure.value == nil)
        for error in [CancellationError(), Aborted(isCancellation: true)] as [any Error] {
            let cancelled = Outcome.failure(error)
            #expect(!cancelled.isSuccess && cancelled.isCancelled)
            #expect(cancelled.value == nil)
            #expect(throws: (any Error).self) { try cancelled.get() }
        }
        #expect(!Outcome.failure(Aborted(isCancellation: false)).isCancelled)
    }

    @Test("a result is made of a callback's two arguments, and the error wins")
    func callback() {
        #expect(Outcome(1, nil).value == 1)
        #expect(throws: Failure(2)) { try Outcome(1, Failure(2)).get() }
        #expect(throws: Failure(2)) { try Outcome(nil, Failure(2)).get() }
        #expect(throws: FutureError.invalidCallback) { try Outcome(nil, nil).get() }
    }

    @Test("a future's state is read at once", arguments: Driver.allCases)
    func snapshot(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            #expect(!future.isCompleted && !future.isSuccess && !future.isFailure && !future.isCancelled)
            #expect(future.result == nil)
            promise.succeed(1)
            #expect(future.isCompleted && future.isSuccess && future.result?.value == 1)
            let failed = loop.failed(Failure(2), of: Int.self).ignoreFailure()
            #expect(failed.isFailure)
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            #expect(cancelled.isCancelled && !cancelled.isFailure)
        }
    }
}
