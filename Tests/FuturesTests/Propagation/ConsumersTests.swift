import Futures
import Testing

struct ConsumersTests {
    @Test(
        "callbacks of one future run in the order of registration, of whichever kind",
        arguments: Driver.allCases
    )
    func registrationOrder(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            future.whenComplete { _ in seen.add(1) }
            let mapped = future.map { _ in seen.add(2) }
            future.whenSuccess { _ in seen.add(3) }
            let chained = future.flatMap { _ in
                seen.add(4)
                return loop.succeeded()
            }
            let always = future.always { seen.add(5) }
            future.whenSuccess { _ in
                seen.add(6)
                future.whenSuccess { _ in seen.add(8) }
            }
            future.whenComplete { _ in seen.add(7) }
            promise.succeed(0)
            try settle(loop)
            #expect(seen.entries == ["1", "2", "3", "4", "5", "6", "7", "8"])
            #expect(mapped.isCompleted && chained.isCompleted && always.isCompleted)
        }
    }

    @Test("callbacks that a failure passes by keep the order of the others", arguments: Driver.allCases)
    func orderAroundPassThrough(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            future.whenFailure { _ in seen.add(1) }
            future.map { $0 }.map { $0 }.whenFailure { _ in seen.add("passed") }
            future.whenFailure { _ in seen.add(2) }
            future.whenSuccess { _ in seen.add("success") }
            future.whenCancelled { seen.add("cancelled") }
            future.whenComplete { _ in seen.add(3) }
            promise.fail(Failure())
            try settle(loop)
            #expect(seen.entries == ["1", "2", "3", "passed"])
        }
    }

    @Test("consumers that stay keep their order when others leave", arguments: Driver.allCases)
    func orderOfThoseThatStay(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let consumers = (0..<6).map { index in promise.future.map { _ in seen.add(index) } }
            for index in [0, 3, 5] { #expect(consumers[index].cancel()) }
            promise.future.whenSuccess { _ in seen.add("last") }
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["1", "2", "4", "last"])
        }
    }
}
