import Futures
import Testing

struct ConvertTests {
    private class Animal {}
    private final class Cat: Animal {}

    @Test("map takes a key path", arguments: Driver.allCases)
    func keyPath(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.succeeded("four").map(\.count), succeedsWith: 4)
            try expect(loop.succeeded([3, 1]).map(\.first), succeedsWith: 3)
        }
    }

    @Test("a value is dropped or erased, and the outcome stays", arguments: Driver.allCases)
    func erasure(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (number, text) = (loop.succeeded(1), loop.succeeded("a"))
            let failed = loop.failed(Failure(2), of: Int.self)
            try expect(Future.all([number.asVoid(), text.asVoid()]).map(\.count), succeedsWith: 2)
            let all = Future.all([number.map { $0 as Any }, text.map { $0 as Any }])
            try expect(all.map { $0.map { "\($0)" } }, succeedsWith: ["1", "a"])
            expect(failed.asVoid(), failsWith: Failure(2))
            expect(failed.map { $0 as Any }, failsWith: Failure(2))
            let mixed: [any Completing] = [number, text]
            #expect(mixed.count == 2)
        }
    }

    @Test("a cast that does not fit fails and names both types", arguments: Driver.allCases)
    func cast(driver: Driver) throws {
        try withLoop(driver) { loop in
            let animal = loop.succeeded(Cat()).cast(to: Animal.self)
            try expect(animal.cast(to: Cat.self).map { _ in 1 }, succeedsWith: 1)
            let any = loop.succeeded(1 as Any)
            try expect(any.cast(to: Int.self), succeedsWith: 1)
            expect(any.cast(to: String.self), failsWith: FutureError.castFailed(from: "Int", to: "String"))
            let error = FutureError.castFailed(from: "Int", to: "String")
            #expect("\(error)" == "a value of type Int cannot be cast to String")
            try expect(any.map { $0 as? Int }, succeedsWith: 1)
            try expect(any.map { $0 as? String }, succeedsWith: nil)
            let failed = loop.failed(Failure(2), of: Any.self)
            expect(failed.cast(to: Int.self), failsWith: Failure(2))
            expect(failed.map { $0 as? Int }, failsWith: Failure(2))
        }
    }

    @Test("an optional value is unwrapped, replaced or an error", arguments: Driver.allCases)
    func unwrap(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (some, none) = (loop.succeeded(Int?.some(1)), loop.succeeded(Int?.none))
            try expect(some.unwrap(), succeedsWith: 1)
            try expect(some.map { $0 ?? 2 }, succeedsWith: 1)
            expect(none.unwrap(), failsWith: FutureError.missingValue)
            expect(none.unwrap(orFail: Failure(3)), failsWith: Failure(3))
            try expect(none.map { $0 ?? 4 }, succeedsWith: 4)
            try expect(none.map { $0 ?? 5 }, succeedsWith: 5)
            let failed = loop.failed(Failure(7), of: Int?.self)
            expect(failed.map { $0 ?? 8 }, failsWith: Failure(7))
        }
    }

    @Test("filter and compactMap fail for the values they do not want", arguments: Driver.allCases)
    func partial(driver: Driver) throws {
        try withLoop(driver) { loop in
            let three = loop.succeeded(3)
            try expect(three.compactMap { $0 > 2 ? "large" : nil }, succeedsWith: "large")
            expect(three.compactMap { $0 > 3 ? "large" : nil }, failsWith: FutureError.filtered)
            expect(three.compactMap { _ -> Int? in throw Failure(1) }, failsWith: Failure(1))
            let failed = loop.failed(Failure(2), of: Int.self)
            expect(failed.compactMap { Optional($0) }, failsWith: Failure(2))
            expect(failed.filter { _ in true }, failsWith: Failure(2))
            expect(three.filter { $0 > 3 }, failsWith: FutureError.filtered)
        }
    }

    @Test("mapResult maps either side, and may throw on either", arguments: Driver.allCases)
    func eitherSide(driver: Driver) throws {
        try withLoop(driver) { loop in
            func transform(_ future: Future<Int>) -> Future<String> {
                future.map { "\($0)" }.mapError { Failure(($0 as? Failure)!.code + 1) }
            }
            try expect(transform(loop.succeeded(1)), succeedsWith: "1")
            expect(transform(loop.failed(Failure(2))), failsWith: Failure(3))
            expectCancelled(transform(loop.failed(CancellationError())))
            func throwing(_ future: Future<Int>) -> Future<Int> {
                future.mapResult { result in
                    if case .failure = result { throw Failure(6) } else { throw Failure(4) }
                }
            }
            expect(throwing(loop.succeeded(1)), failsWith: Failure(4))
            expect(throwing(loop.failed(Failure(5))), failsWith: Failure(6))
        }
    }

    @Test("an outcome is transformed to another, or to that of a future", arguments: Driver.allCases)
    func transformResult(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(1), of: Int.self)
            try expect(failed.flatMapResult { _ in Result<Int, any Error>.success(2) }, succeedsWith: 2)
            try expect(failed.flatMapResult { _ in loop.submit { 3 } }, succeedsWith: 3)
            let swapped = loop.succeeded(4).flatMapResult { _ in Result<Int, Failure>.failure(Failure(5)) }
            expect(swapped, failsWith: Failure(5))
        }
    }

    @Test("an error may be taken for the value", arguments: Driver.allCases)
    func errorAsValue(driver: Driver) throws {
        try withLoop(driver) { loop in
            let error = loop.failed(Failure(1), of: Int.self).errorAsValue()
            try expect(error.map { $0 as? Failure }, succeedsWith: Failure(1))
            expect(loop.succeeded(1).errorAsValue(), failsWith: FutureError.notFailed)
            expectCancelled(loop.failed(CancellationError(), of: Int.self).errorAsValue())
        }
    }

    @Test("fallback takes the other's value, or the first error if both fail", arguments: Driver.allCases)
    func fallback(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.onUnhandledFailure = { Issue.record("unhandled: \($0)") }
            let failed = loop.failed(Failure(1), of: Int.self)
            try expect(failed.fallback(to: loop.succeeded(2)), succeedsWith: 2)
            try expect(failed.fallback(to: loop.submit { 3 }), succeedsWith: 3)
            expect(failed.fallback(to: loop.failed(Failure(4))), failsWith: Failure(1))
            expect(failed.fallback(to: loop.failed(CancellationError())), failsWith: Failure(1))
            try expect(loop.succeeded(5).fallback(to: loop.failed(Failure(6))), succeedsWith: 5)
            let pending = loop.makePromise(of: Int.self)
            let waiting = failed.fallback(to: pending.future)
            try settle(loop)
            #expect(waiting.cancel())
            #expect(pending.future.isCancelled)
        }
    }

    @Test("two futures are zipped by a closure, and the first error counts", arguments: Driver.allCases)
    func zipWith(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (pending, number) = (loop.makePromise(of: Int.self), loop.submit { 1 })
            try expect(number.and(loop.succeeded("a")).map { "\($0.0)\($0.1)" }, succeedsWith: "1a")
            expect(number.and(number).map { _ -> Int in throw Failure(2) }, failsWith: Failure(2))
            expect(
                pending.future.and(loop.failed(Failure(3), of: Int.self)).map { $0.0 + $0.1 },
                failsWith: Failure(3))
            #expect(pending.future.isCancelled)
        }
    }
}
