import Futures
import Testing

struct WhenTests {
    private func observe(_ future: Future<Int>, _ seen: Record) {
        future.whenComplete { seen.add($0) }
        future.whenSuccess { seen.add("success \($0)") }
        future.whenFailure { seen.add("failure \($0)") }
        future.whenCancelled { seen.add("cancelled alone") }
    }

    @Test("each observer is called for its own outcome only", arguments: Driver.allCases, [false, true])
    func outcomes(driver: Driver, completeFirst: Bool) throws {
        try withLoop(driver) { loop in
            func expectCalls(_ expected: [String], after complete: (Promise<Int>) -> Bool) throws {
                let seen = Record()
                let promise = loop.makePromise(of: Int.self)
                if !completeFirst { observe(promise.future, seen) }
                #expect(complete(promise))
                if completeFirst { observe(promise.future, seen) }
                try settle(loop)
                #expect(seen.entries == expected)
            }
            try expectCalls(["1", "success 1"]) { $0.succeed(1) }
            try expectCalls(["failed: Failure(code: 2)", "failure Failure(code: 2)"]) { $0.fail(Failure(2)) }
            try expectCalls(["cancelled", "cancelled alone"]) { $0.cancel() }
        }
    }

    @Test("an observer releases its closure whether it is called or not", arguments: Driver.allCases)
    func releases(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var called: Witness?
            weak var passedBy: Witness?
            let promise = loop.makePromise(of: Int.self)
            func observe() {
                let (first, second) = (Witness(), Witness())
                (called, passedBy) = (first, second)
                promise.future.whenSuccess { _ in first.look() }
                promise.future.whenFailure { _ in second.look() }
            }
            observe()
            #expect(called != nil && passedBy != nil)
            promise.succeed(1)
            try settle(loop)
            #expect(called == nil && passedBy == nil)
        }
    }
}
