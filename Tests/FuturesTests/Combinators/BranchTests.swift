import Futures
import Testing

struct BranchTests {
    @Test("branches serve as tokens: the last one to go asks the future", arguments: Driver.allCases)
    func tokens(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("asked")
                return .cancel
            }
            let (first, second) = (promise.future.branch(), promise.future.branch())
            #expect(first.cancel() && !first.cancel())
            #expect(seen.entries.isEmpty && !promise.future.isCompleted)
            var token: Disposer? = second.cancelOnDeinit()
            token = nil
            #expect(token == nil && seen.entries == ["asked"])
            #expect(promise.future.isCancelled)
            let done = loop.succeeded(1).branch()
            #expect(done.result?.value == 1)
        }
    }
}
