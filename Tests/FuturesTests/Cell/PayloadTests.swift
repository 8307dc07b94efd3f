import Futures
import Testing

/// Values of each size, alignment and kind: they live in the future itself, or in a box beside it.
struct PayloadTests {
    private func roundTrip<Value: Equatable>(
        _ value: Value, on loop: EventLoop, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let promise = loop.makePromise(of: Value.self)
        let results = [
            promise.future.map { $0 }, promise.future.flatMap { loop.succeeded($0) },
            promise.future.tap { _ in },
            promise.future.and(loop.submit { value }).map { $0.1 }, promise.future.recover { _ in value },
            promise.future.flatMap { value in loop.submit { value } },
        ]
        promise.succeed(value)
        let all = Future.all(results)
        try expect(
            all, succeedsWith: Array(repeating: value, count: results.count), sourceLocation: sourceLocation)
        #expect(try promise.future.result?.get() == value, sourceLocation: sourceLocation)
        #expect(try loop.succeeded(value).result?.get() == value, sourceLocation: sourceLocation)
    }

    @Test("values of each size and alignment arrive as they were sent", arguments: Driver.allCases)
    func sizes(driver: Driver) throws {
        struct Words<Word: Equatable & Sendable>: Equatable {
            var words: (Word, Word, Word, Word)
            static func == (a: Words, b: Words) -> Bool { a.words == b.words }
        }
        struct Nothing: Equatable {}
        struct Pair: Equatable { var (number, text): (Int, String) }
        enum One: Equatable { case only }
        try withLoop(driver) { loop in
            try roundTrip(Nothing(), on: loop)
            try roundTrip(One.only, on: loop)
            try roundTrip(true, on: loop)
            try roundTrip(UInt8.max, on: loop)
            try roundTrip(Int?.none, on: loop)
            try roundTrip(Int?.some(.min), on: loop)
            try roundTrip("a text that is too long to be kept inside of the string itself", on: loop)
            try roundTrip(Pair(number: 1, text: "two"), on: loop)
            try roundTrip(Words(words: (1, 2, 3, 4)), on: loop)
            try roundTrip(
                Words(words: ("one", "two", "three", "four, which is longer than fifteen bytes")), on: loop)
            try roundTrip(SIMD2<Float>(1, 2), on: loop)
            try roundTrip(SIMD4<Float>(1, 2, 3, 4), on: loop)
            try roundTrip(SIMD8<Float>(1, 2, 3, 4, 5, 6, 7, 8), on: loop)
            try roundTrip(SIMD8<Double>(repeating: 0.5), on: loop)
            try roundTrip([[1], [2, 3]], on: loop)
            try roundTrip(["a": [1: "b"]], on: loop)
        }
    }

    @Test("a value of nothing and one that is a closure arrive too", arguments: Driver.allCases)
    func others(driver: Driver) throws {
        try withLoop(driver) { loop in
            let void = loop.makePromise(of: Void.self)
            void.succeed()
            try expect(void.future.map { 1 }, succeedsWith: 1)
            let closure = loop.makePromise(of: ((Int) -> Int).self)
            closure.succeed { $0 + 1 }
            try expect(closure.future.map { $0(1) }, succeedsWith: 2)
            let existential = loop.makePromise(of: (any Sequence<Int>).self)
            existential.succeed([1, 2])
            try expect(existential.future.map { Array($0) }, succeedsWith: [1, 2])
            let nested = loop.makePromise(of: Future<Int>.self)
            nested.succeed(loop.succeeded(3))
            try expect(nested.future.flatMap { $0 }, succeedsWith: 3)
        }
    }

    @Test("values and errors are released with the last future that has them", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        final class ObjectError: Error {}
        struct Large {
            var witness = Witness()
            var words = (1, 2, 3, 4)
        }
        try withLoop(driver) { loop in
            weak var object: Witness?
            weak var large: Witness?
            weak var error: ObjectError?
            func make() -> (Future<Witness>, Future<Large>, Future<Int>) {
                let (value, boxed, failure) = (Witness(), Large(), ObjectError())
                (object, large, error) = (value, boxed.witness, failure)
                return (
                    loop.succeeded(value).map { $0 }, loop.succeeded(boxed).map { $0 }, loop.failed(failure)
                )
            }
            var futures: (Future<Witness>, Future<Large>, Future<Int>)? = make()
            try settle(loop)
            #expect(object != nil && large != nil && error != nil)
            futures!.2.ignoreFailure()
            futures = nil
            #expect(object == nil && large == nil && error == nil)
        }
    }

    @Test("an error arrives as it was thrown", arguments: Driver.allCases)
    func errors(driver: Driver) throws {
        struct Detailed: Error, Equatable {
            var text = "a text that is too long to be kept inside of the string itself"
            var numbers = [1, 2, 3]
            var code = SIMD4<Int>(1, 2, 3, 4)
        }
        enum Bare: Error { case only }
        final class ObjectError: Error {}
        try withLoop(driver) { loop in
            expect(loop.failed(Detailed(), of: Int.self).map { $0 }, failsWith: Detailed())
            expect(loop.failed(Bare.only, of: String.self).map { $0 }, failsWith: Bare.only)
            let error = ObjectError()
            let same = loop.failed(error, of: Int.self).map { $0 }.recover {
                ($0 as AnyObject) === error ? 1 : 0
            }
            try expect(same, succeedsWith: 1)
        }
    }
}
