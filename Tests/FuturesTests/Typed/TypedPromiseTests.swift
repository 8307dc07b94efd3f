import Futures
import Testing

struct TypedPromiseTests {
    @Test(
        "a typed promise completes its future with a value, a failure of its type, or as cancelled",
        arguments: Driver.allCases)
    func promise(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<5).map { _ in loop.makePromise(of: Int.self, failingWith: Refusal.self) }
            #expect("\(promises[0].future)" == "TypedFuture(pending)")
            #expect(!promises[0].future.isCompleted && promises[0].future.result == nil)
            #expect(promises[0].succeed(1))
            #expect(promises[1].fail(.refused))
            #expect(promises[2].cancel())
            #expect(promises[3].complete(.success(4)))
            #expect(promises[4].complete(using: promises[1].future))
            for promise in promises { #expect(!promise.succeed(7)) }
            #expect(
                promises.map { "\($0.future)" } == [
                    "TypedFuture(success: 1)", "TypedFuture(failure: refused)", "TypedFuture(cancelled)",
                    "TypedFuture(success: 4)", "TypedFuture(failure: refused)",
                ])
        }
    }

    @Test(
        "a promise released uncompleted breaks its typed future, and so does the end of the loop",
        arguments: Driver.allCases)
    func broken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = {
                loop.makePromise(of: Int.self, failingWith: Refusal.self, file: "here", line: 7).future
            }()
            let broken = FutureError.brokenPromise(file: "here", line: 7)
            #expect("\(future)" == "TypedFuture(broken: \(broken))")
            expect(future.erased, failsWith: broken)
            try expect(future.recover { _ in 1 }, completesAs: "broken: \(broken)")
            let pending = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let derived = pending.future.map { $0 + 1 }
            loop.shutdown()
            #expect("\(derived)" == "TypedFuture(broken: \(FutureError.shutDown))")
        }
    }

    @Test(
        "a request to cancel a typed future reaches whoever holds the promise, who may answer with a result",
        arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            for (answer, outcome) in [
                (nil, "cancelled"), (.success(1), "success: 1"), (.failure(.tooLate), "failure: tooLate"),
            ] as [(Result<Int, Refusal>?, String)] {
                let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
                promise.onCancelRequest { answer }
                let derived = promise.future.map { $0 }
                #expect(derived.cancel())
                try expect(derived, completesAs: outcome)
                #expect(!promise.succeed(7))
            }
            let alone = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            #expect(alone.future.map { $0 }.cancel())
            #expect("\(alone.future)" == "TypedFuture(cancelled)")
        }
    }
}
