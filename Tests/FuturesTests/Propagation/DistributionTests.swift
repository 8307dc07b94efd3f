import Futures
import Testing

struct DistributionTests {
    @Test("a failure passes through all that does not want it at once", arguments: Driver.allCases)
    func passThrough(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let end = promise.future.map { $0 }.flatMap { loop.succeeded($0) }.filter { _ in true }.tap { _ in
            }
            promise.fail(Failure(3))
            #expect("\(end)" == "Future(failure: Failure(code: 3))")
            end.ignoreFailure()
        }
    }

    @Test(
        "a future that is cancelled while the outcome of its source is being handed on takes no one's place",
        arguments: Driver.allCases, Outcome.allCases)
    func cancelsNext(driver: Driver, outcome: Outcome) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let bag = DisposeBag()
            var promise: Promise<Int>?
            let first = Future<Int>(on: loop) { made in
                promise = made
                return bag
            }
            let source = promise!.future
            let always = source.always { seen.add("always") }
            let cleaned = source.tapError(including: .onlyCancellation) { _ in seen.add("cancelled") }
            let waiting = [
                always, cleaned, source.recover(including: .cancellation) { _ in 1 }, source.map { $0 },
            ]
            for future in waiting { bag.add(future) }
            let last = source.mapResult { _ in seen.add("last") }
            outcome.complete(promise!)
            #expect(waiting.allSatisfy { "\($0)" == "Future(cancelled)" })
            #expect(first.ignoreFailure().isCompleted)
            try settle(loop)
            #expect(seen.entries == ["always", "cancelled", "last"])
            #expect(last.isCompleted)
        }
    }
}
