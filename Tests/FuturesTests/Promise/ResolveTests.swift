import Futures
import FuturesTesting
import Testing

struct ResolveTests {
    /// A callback API: keeps the callback, to be called by the test.
    private final class API<Arguments> {
        var callback: ((Arguments) -> Void)?
    }

    @Test("a callback of every common shape completes its future", arguments: Driver.allCases)
    func shapes(driver: Driver) throws {
        try withLoop(driver) { loop in
            func value(_ completion: @escaping (Int) -> Void) { completion(1) }
            func optional(_ completion: @escaping (Int?, (any Error)?) -> Void) { completion(2, nil) }
            func plain(_ completion: @escaping (Int, (any Error)?) -> Void) { completion(3, nil) }
            func reversed(_ completion: @escaping ((any Error)?, Int?) -> Void) { completion(nil, 4) }
            func typed(_ completion: @escaping (Result<Int, Failure>) -> Void) { completion(.success(5)) }
            func untyped(_ completion: @escaping (Result<Int, any Error>) -> Void) { completion(.success(6)) }
            let futures = [
                Future<Int>(on: loop) { value($0.resolve) }, Future<Int>(on: loop) { optional($0.resolve) },
                Future<Int>(on: loop) { plain($0.resolve) }, Future<Int>(on: loop) { reversed($0.resolve) },
                Future<Int>(on: loop) { typed($0.resolve) }, Future<Int>(on: loop) { untyped($0.resolve) },
            ]
            let areCompleted = futures.allSatisfy(\.isCompleted)
            #expect(areCompleted)
            try expect(Future.all(futures), succeedsWith: [1, 2, 3, 4, 5, 6])

            func pair(_ completion: @escaping (Int, String) -> Void) { completion(1, "a") }
            func triple(_ completion: @escaping (Int?, String?, (any Error)?) -> Void) {
                completion(2, "b", nil)
            }
            let pairs = [
                Future<(Int, String)>(on: loop) { pair($0.resolve) },
                Future<(Int, String)>(on: loop) { triple($0.resolve) },
            ]
            try expect(Future.all(pairs).map { $0.map { "\($0.0)\($0.1)" } }, succeedsWith: ["1a", "2b"])

            func bool(_ completion: @escaping (Bool) -> Void) { completion(false) }
            func boolOrError(_ completion: @escaping (Bool, (any Error)?) -> Void) { completion(true, nil) }
            func error(_ completion: @escaping ((any Error)?) -> Void) { completion(nil) }
            func nothing(_ completion: @escaping () -> Void) { completion() }
            try expect(Future<Bool>(on: loop) { bool($0.resolve) }, succeedsWith: false)
            try expect(Future<Bool>(on: loop) { boolOrError($0.resolve) }, succeedsWith: true)
            try loop.run(until: Future<Void>(on: loop) { boolOrError($0.resolve) })
            try loop.run(until: Future<Void>(on: loop) { error($0.resolve) })
            try loop.run(until: Future<Void>(on: loop) { nothing($0.resolve) })
        }
    }

    @Test("an error wins over a value, and neither is an error of its own", arguments: Driver.allCases)
    func conventions(driver: Driver) throws {
        try withLoop(driver) { loop in
            func number(_ body: (Promise<Int>) -> Void) -> Future<Int> { Future(on: loop, body) }
            func pair(_ body: (Promise<(Int, Int)>) -> Void) -> Future<Void> {
                Future<(Int, Int)>(on: loop, body).map { _ in }
            }
            func void(_ body: (Promise<Void>) -> Void) -> Future<Void> { Future(on: loop, body) }
            expect(number { $0.resolve(Optional(1), Failure(1)) }, failsWith: Failure(1))
            expect(number { $0.resolve(1, Failure(2)) }, failsWith: Failure(2))
            expect(number { $0.resolve(Failure(3), Optional(1)) }, failsWith: Failure(3))
            expect(number { $0.resolve(Result<Int, Failure>.failure(Failure(4))) }, failsWith: Failure(4))
            expect(pair { $0.resolve(1, 2, Failure(5)) }, failsWith: Failure(5))
            expect(void { $0.resolve(Failure(6)) }, failsWith: Failure(6))
            expect(void { $0.resolve(true, Failure(7)) }, failsWith: Failure(7))
            expectCancelled(void { $0.resolve(CancellationError()) })

            expect(number { $0.resolve(Int?.none, nil) }, failsWith: FutureError.invalidCallback)
            expect(number { $0.resolve(nil, Int?.none) }, failsWith: FutureError.invalidCallback)
            expect(pair { $0.resolve(1, Int?.none, nil) }, failsWith: FutureError.invalidCallback)
            expect(void { $0.resolve(false, nil) }, failsWith: FutureError.invalidCallback)
            #expect(
                "\(FutureError.invalidCallback)"
                    == "the callback was called with neither a value nor an error")
        }
    }

    @Test(
        "the second call of a callback changes nothing; what it throws after one neither",
        arguments: Driver.allCases)
    func twice(driver: Driver) throws {
        try withLoop(driver) { loop in
            let api = API<Int>()
            let future = Future<Int>(on: loop) { api.callback = $0.resolve }
            #expect(!future.isCompleted)
            api.callback?(1)
            api.callback?(2)
            try expect(future, succeedsWith: 1)
            let thrown = Future<Int>(on: loop) { promise in
                promise.resolve(3)
                throw Failure(1)
            }
            try expect(thrown, succeedsWith: 3)
            expect(Future<Int>(on: loop) { _ in throw Failure(2) }, failsWith: Failure(2))
        }
    }

    @Test("a callback that is dropped uncalled breaks the promise", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let api = API<Int>()
            let future = Future<Int>(on: loop, file: "here", line: 3) { api.callback = $0.resolve }
            try settle(loop)
            #expect(!future.isCompleted)
            api.callback = nil
            expect(future, failsWith: FutureError.brokenPromise(file: "here", line: 3))
            let line: UInt = #line + 1
            let forgotten = Future<Int>(on: loop) { _ in }
            expect(forgotten, failsWith: FutureError.brokenPromise(file: #fileID, line: line))
        }
    }

    @Test("an API that can be cancelled is, when its future is", arguments: Driver.allCases)
    func cancellable(driver: Driver) throws {
        try withLoop(driver) { loop in
            let api = API<Int>()
            let future = Future<Int>(on: loop) { promise in
                api.callback = promise.resolve
                return Disposer { api.callback = nil }
            }
            #expect(api.callback != nil)
            #expect(future.map { $0 }.cancel())
            #expect(api.callback == nil)
            expectCancelled(future)
        }
    }

    /// An API with a delegate, which it does not keep.
    private final class Locator {
        weak var delegate: Finder?
        func find(_ place: Int) { delegate?.found(place) }
        func giveUp() { delegate?.failed(Failure(1)) }
    }

    /// A delegate that holds a promise until it is called.
    private final class Finder {
        private let promise: Promise<Int>
        init(_ promise: Promise<Int>) { self.promise = promise }
        func found(_ place: Int) { promise.resolve(place) }
        func failed(_ error: any Error) { promise.resolve(nil, error) }
    }

    @Test("a delegate that holds a promise makes a future of its calls", arguments: Driver.allCases)
    func delegate(driver: Driver) throws {
        try withLoop(driver) { loop in
            let locator = Locator()
            func locate() -> Future<Int> {
                Future(on: loop) { promise in
                    let finder = Finder(promise)
                    locator.delegate = finder
                    let bag = DisposeBag()
                    bag.hold(finder)
                    return bag
                }
            }
            let found = locate()
            locator.find(5)
            try expect(found, succeedsWith: 5)
            #expect(locator.delegate == nil)
            let failed = locate()
            locator.giveUp()
            expect(failed, failsWith: Failure(1))
            let cancelled = locate()
            #expect(locator.delegate != nil)
            #expect(cancelled.cancel() && locator.delegate == nil)
        }
    }
}
