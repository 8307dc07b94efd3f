import Futures
import TestSupport
import Testing

struct RequestsTests {
    @Test(
        "a handler that cancels again comes to its end before the next one is called",
        arguments: Driver.allCases)
    func oneByOne(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("first")
                #expect(promise.future.cancel())
                seen.add("end of the first")
                return .continue
            }
            promise.onCancelRequest {
                seen.add("second")
                return .cancel
            }
            #expect(promise.future.cancel())
            #expect(seen.entries == ["first", "end of the first", "second"])
        }
    }

    @Test("handlers that cancel each other in a long row need little stack", arguments: Driver.allCases)
    func longRow(driver: Driver) throws {
        try onThread(stackSize: 512 << 10) {
            try withLoop(driver) { loop in
                for answer: CancelResponse<Int> in [.cancel, .continue, .complete(.success(1))] {
                    let promises = (0..<largeCount).map { _ in loop.makePromise(of: Int.self) }
                    var calls = 0
                    for (promise, next) in zip(promises, promises.dropFirst() + promises.prefix(1)) {
                        promise.onCancelRequest {
                            calls += 1
                            #expect(next.future.cancel() || calls == promises.count)
                            return answer
                        }
                    }
                    #expect(promises[0].future.cancel())
                    #expect(calls == promises.count)
                    for promise in promises { promise.succeed(2) }
                }
            }
        }
    }
}
