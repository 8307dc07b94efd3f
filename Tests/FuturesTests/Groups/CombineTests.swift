import Futures
import Testing

struct CombineTests {
    @Test("combine gives a tuple of two to ten values, of as many types", arguments: Driver.allCases)
    func arities(driver: Driver) throws {
        try withLoop(driver) { loop in
            let two = try loop.run(until: combine(loop.submit { 1 }, loop.submit { "b" }))
            #expect(two.0 == 1)
            #expect(two.1 == "b")
            let (text, character) = (loop.succeeded("2"), loop.succeeded("7" as Character))
            let (double, byte) = (loop.succeeded(3.5), loop.succeeded(6 as UInt8))
            let (optional, set) = (loop.succeeded(Int?.none), loop.succeeded(Set([8])))
            let (array, range) = (loop.succeeded([4]), loop.succeeded(9...9))
            let ten = try loop.run(
                until: combine(
                    loop.succeeded(1), text, double, array, optional, byte, character, set, range,
                    loop.succeeded()))
            #expect(ten.0 == 1)
            #expect(ten.1 == "2")
            #expect(ten.2 == 3.5)
            #expect(ten.3 == [4])
            #expect(ten.4 == nil)
            #expect(ten.5 == 6)
            #expect(ten.6 == "7")
            #expect(ten.7 == Set([8]))
            #expect(ten.8 == 9...9)
        }
    }

    @Test("combine takes values in whichever order they come", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (number, text) = (loop.makePromise(of: Int?.self), loop.makePromise(of: String.self))
            let combined = combine(number.future, text.future).map { "\($0 as Any) \($1)" }
            text.succeed("a")
            try settle(loop)
            #expect(!combined.isCompleted)
            number.succeed(nil)
            try expect(combined, succeedsWith: "nil a")
        }
    }

    @Test(
        "combine ends with the first failure or cancellation, and cancels the rest",
        arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        try withLoop(driver) { loop in
            let parts = (loop.makePromise(of: Int.self), loop.makePromise(of: String.self))
            let combined = combine(parts.0.future, parts.1.future)
            parts.1.fail(Failure(1))
            expect(combined, failsWith: Failure(1))
            #expect("\(parts.0.future)" == "Future(cancelled)")
            let others = (loop.makePromise(of: Int.self), loop.makePromise(of: String.self))
            let cancelled = combine(others.0.future, others.1.future, loop.succeeded(1))
            others.0.cancel()
            expectCancelled(cancelled)
            #expect("\(others.1.future)" == "Future(cancelled)")
        }
    }

    @Test(
        "combine keeps the rest running if told so, and cancelling it cancels all", arguments: Driver.allCases
    )
    func remaining(driver: Driver) throws {
        try withLoop(driver) { loop in
            let parts = (loop.makePromise(of: Int.self), loop.makePromise(of: String.self))
            let failed = loop.failed(Failure(1), of: Int.self)
            expect(combine(parts.0.future, failed, cancelRemaining: false), failsWith: Failure(1))
            #expect(!parts.0.future.isCompleted)
            #expect(combine(parts.0.future, parts.1.future).map { $0.0 }.cancel())
            #expect("\(parts.0.future) \(parts.1.future)" == "Future(cancelled) Future(cancelled)")
        }
    }

    @Test(
        "combine of nothing succeeds, on the loop that is given or the current one",
        arguments: Driver.allCases)
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            try loop.run(until: combine(on: loop))
            try loop.run(until: loop.submit {}.flatMap { combine() })
        }
    }

    @Test("what was combined is released when its parts complete", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            weak var witness: Witness?
            do {
                let value = Witness()
                witness = value
                _ = combine(loop.succeeded(value), promise.future)
            }
            try settle(loop)
            #expect(witness != nil)
            promise.succeed(1)
            try settle(loop)
            #expect(witness == nil)
        }
    }
}
