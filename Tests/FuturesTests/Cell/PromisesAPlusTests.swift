import Futures
import Testing

/// The rules of Promises/A+, by their numbers. `then` is `map` and `flatMap` for the value, `recover` and
/// `flatMapError` for the reason, `mapResult` and `flatMapResult` for both.
///
/// The rules about arguments that are no functions (2.2.1, 2.2.7.3 and .4 in that form) and about thenables
/// (2.3.3) are matters of a language without types; what is left of them is here.
struct PromisesAPlusTests {
    // MARK: 2.1 States

    @Test("2.1.1: a pending promise may become fulfilled or rejected", arguments: Driver.allCases)
    func rule2_1_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (fulfilled, rejected) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            #expect(!fulfilled.future.isCompleted && !rejected.future.isCompleted)
            #expect(fulfilled.succeed(1) && fulfilled.future.isSuccess)
            #expect(rejected.fail(Failure(2)) && rejected.future.ignoreFailure().isFailure)
        }
    }

    @Test("2.1.2: a fulfilled promise keeps its state and its value", arguments: Driver.allCases)
    func rule2_1_2(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.succeed(1)
            #expect(!promise.succeed(2) && !promise.fail(Failure(3)) && !promise.cancel())
            #expect(!promise.complete(using: loop.succeeded(4)) && !promise.future.cancel())
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("2.1.3: a rejected promise keeps its state and its reason", arguments: Driver.allCases)
    func rule2_1_3(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.fail(Failure(1))
            #expect(!promise.succeed(2) && !promise.fail(Failure(3)) && !promise.cancel())
            #expect(!promise.complete(using: loop.succeeded(4)) && !promise.future.cancel())
            expect(promise.future, failsWith: Failure(1))
        }
    }

    // MARK: 2.2 The then method

    @Test("2.2.1: either of the two callbacks may be left out", arguments: Driver.allCases)
    func rule2_2_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let (value, error) = (loop.succeeded(1), loop.failed(Failure(2), of: Int.self))
            value.whenSuccess { seen.add("value \($0)") }
            error.whenFailure { seen.add("error \($0)") }
            try settle(loop)
            #expect(seen.entries == ["value 1", "error Failure(code: 2)"])
        }
    }

    @Test(
        "2.2.2: onFulfilled is called once, with the value, not before there is one",
        arguments: Driver.allCases)
    func rule2_2_2(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let (promise, rejected) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let futures = [promise, rejected].map { promise in promise.future.map { seen.add($0) } }
            try settle(loop)
            #expect(seen.entries.isEmpty)
            promise.succeed(1)
            promise.succeed(2)
            rejected.fail(Failure(3))
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["1"])
            #expect(futures[1].ignoreFailure().isFailure)
        }
    }

    @Test(
        "2.2.3: onRejected is called once, with the reason, not before there is one",
        arguments: Driver.allCases)
    func rule2_2_3(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let (promise, fulfilled) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let futures = [promise, fulfilled].map { promise in
                promise.future.recover { error in
                    seen.add(error)
                    return 0
                }
            }
            try settle(loop)
            #expect(seen.entries.isEmpty)
            promise.fail(Failure(1))
            promise.fail(Failure(2))
            fulfilled.succeed(3)
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["Failure(code: 1)"])
            #expect(futures[1].result?.value == 3)
        }
    }

    @Test(
        "2.2.4: no callback runs before the code that completes or registers has ended",
        arguments: Driver.allCases)
    func rule2_2_4(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenComplete { seen.add("before: \($0.value ?? 0)") }
            promise.succeed(1)
            promise.future.whenComplete { seen.add("after: \($0.value ?? 0)") }
            seen.add("code")
            try settle(loop)
            let nested = loop.submit {
                promise.future.whenComplete { _ in seen.add("nested callback") }
                seen.add("callback")
            }
            try loop.run(until: nested)
            try settle(loop)
            #expect(seen.entries == ["code", "before: 1", "after: 1", "callback", "nested callback"])
        }
    }

    @Test("2.2.5: a callback is called as a plain function", arguments: Driver.allCases)
    func rule2_2_5(driver: Driver) throws {
        func double(_ value: Int) -> Int { value * 2 }
        try withLoop(driver) { loop in
            try expect(loop.succeeded(1).map(double).map(String.init), succeedsWith: "2")
        }
    }

    @Test("2.2.6.1: callbacks for the value run in the order of registration", arguments: Driver.allCases)
    func rule2_2_6_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for index in 0..<3 {
                promise.future.whenSuccess { seen.add("\(index): \($0)") }
                let throwing = promise.future.map { _ -> Int in
                    seen.add("\(index) throws")
                    throw Failure(index)
                }
                throwing.ignoreFailure()
            }
            promise.succeed(4)
            promise.future.whenSuccess { seen.add("last: \($0)") }
            try settle(loop)
            #expect(
                seen.entries == [
                    "0: 4", "0 throws", "1: 4", "1 throws", "2: 4", "2 throws", "last: 4",
                ])
        }
    }

    @Test("2.2.6.2: callbacks for the reason run in the order of registration", arguments: Driver.allCases)
    func rule2_2_6_2(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for index in 0..<3 {
                promise.future.whenFailure { seen.add("\(index): \($0)") }
                let recovered = promise.future.recover { _ in
                    seen.add("\(index) recovers")
                    return index
                }
                recovered.whenSuccess { _ in }
            }
            promise.fail(Failure(4))
            try settle(loop)
            #expect(
                seen.entries == [
                    "0: Failure(code: 4)", "0 recovers", "1: Failure(code: 4)", "1 recovers",
                    "2: Failure(code: 4)", "2 recovers",
                ])
        }
    }

    @Test("2.2.7: then returns another promise", arguments: Driver.allCases)
    func rule2_2_7(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = loop.succeeded(1)
            #expect(future.map { $0 }.id != future.id)
            #expect(future.recover { _ in 0 }.id != future.id)
            try settle(loop)
        }
    }

    @Test("2.2.7.1: what a callback returns decides the new promise", arguments: Driver.allCases)
    func rule2_2_7_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (value, error) = (loop.succeeded(1), loop.failed(Failure(2), of: Int.self))
            try expect(value.map { $0 + 1 }, succeedsWith: 2)
            try expect(value.flatMap { value in loop.submit { value + 2 } }, succeedsWith: 3)
            try expect(error.recover { _ in 4 }, succeedsWith: 4)
            try expect(error.flatMapError { _ in loop.submit { 5 } }, succeedsWith: 5)
        }
    }

    @Test("2.2.7.2: what a callback throws rejects the new promise", arguments: Driver.allCases)
    func rule2_2_7_2(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (value, error) = (loop.succeeded(1), loop.failed(Failure(2), of: Int.self))
            expect(value.map { _ -> Int in throw Failure(3) }, failsWith: Failure(3))
            expect(value.flatMap { _ -> Future<Int> in throw Failure(4) }, failsWith: Failure(4))
            expect(error.recover { _ in throw Failure(5) }, failsWith: Failure(5))
            expect(error.flatMapError { _ -> Future<Int> in throw Failure(6) }, failsWith: Failure(6))
        }
    }

    @Test("2.2.7.3: a value without a callback passes", arguments: Driver.allCases)
    func rule2_2_7_3(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(
                loop.succeeded(1).recover { _ in 2 }.flatMapError { $0.asFailed(loop) }, succeedsWith: 1)
        }
    }

    @Test("2.2.7.4: a reason without a callback passes", arguments: Driver.allCases)
    func rule2_2_7_4(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(1), of: Int.self)
            expect(failed.map { $0 + 1 }.flatMap { loop.succeeded($0) }, failsWith: Failure(1))
        }
    }

    // MARK: 2.3 The promise resolution procedure

    @Test("2.3.1: a promise resolved with itself is rejected", arguments: Driver.allCases)
    func rule2_3_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.complete(using: promise.future)
            expect(promise.future, failsWith: FutureError.cycle)
            var own: Future<Int>?
            let returned = loop.succeeded(1).flatMap { _ in own! }
            own = returned
            expect(returned, failsWith: FutureError.cycle)
            own = nil
        }
    }

    @Test("2.3.2.1: a promise resolved with a pending one is pending as long", arguments: Driver.allCases)
    func rule2_3_2_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.complete(using: other.future)
            try pass(.ticks(1), on: loop)
            #expect(!promise.future.isCompleted)
            other.succeed(1)
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("2.3.2.2: it is fulfilled with the same value", arguments: Driver.allCases)
    func rule2_3_2_2(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            promises[0].complete(using: loop.succeeded(1))
            promises[1].complete(using: loop.sleep(for: .ticks(1)).map { 2 })
            try expect(promises[0].future, succeedsWith: 1)
            try expect(promises[1].future, succeedsWith: 2)
        }
    }

    @Test("2.3.2.3: it is rejected with the same reason", arguments: Driver.allCases)
    func rule2_3_2_3(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            promises[0].complete(using: loop.failed(Failure(1)))
            promises[1].complete(using: loop.sleep(for: .ticks(1)).map { throw Failure(2) })
            expect(promises[0].future, failsWith: Failure(1))
            expect(promises[1].future, failsWith: Failure(2))
        }
    }

    @Test("2.3.3: what says how to complete is followed, to any depth", arguments: Driver.allCases)
    func rule2_3_3(driver: Driver) throws {
        struct Reply: Completing {
            let future: Future<Int>
            var completion: FutureCompletion<Int> { .using(future) }
        }
        try withLoop(driver) { loop in
            let one = loop.succeeded(1)
            try expect(one.flatMap { value in Reply(future: loop.submit { value + 1 }) }, succeedsWith: 2)
            let deep = (0..<100).reduce(one) { future, _ in future.flatMap { _ in Reply(future: future) } }
            try expect(deep, succeedsWith: 1)
        }
    }

    @Test("2.3.3.3.3: only the first resolution counts, even if it is pending", arguments: Driver.allCases)
    func rule2_3_3_3_3(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            #expect(promise.complete(using: other.future))
            #expect(!promise.succeed(1) && !promise.fail(Failure(2)))
            #expect(!promise.complete(using: loop.succeeded(3)))
            other.fail(Failure(4))
            expect(promise.future, failsWith: Failure(4))
        }
    }

    @Test("2.3.3.3.4.1: an error after the resolution is ignored", arguments: Driver.allCases)
    func rule2_3_3_3_4_1(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let won = promise.completeIfPending {
                promise.succeed(1)
                throw Failure(2)
            }
            #expect(!won)
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("2.3.4: any other value is the value", arguments: Driver.allCases)
    func rule2_3_4(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.succeeded(1).map { _ in Int?.none }, succeedsWith: nil)
            try expect(loop.succeeded(1).map { [$0] }, succeedsWith: [1])
            let function = try loop.run(until: loop.succeeded { 2 })
            #expect(function() == 2)
        }
    }
}

extension Error {
    fileprivate func asFailed(_ loop: EventLoop) -> Future<Int> { loop.failed(self) }
}
