import Futures
import Testing

/// Work whose body waits for the future of the whole, or for what follows from that.
enum Circle: String, CaseIterable, Codable, CustomTestStringConvertible {
    case promise, flatMap, flatAlways, flatTap
    case traverse, traverseOneByOne, traverseWithToken, traverseSettled, forEach, repeatWhile, fold
    case repeatEvery, repeatEveryWithToken, retry, retryAsking, poll, repeatOnError
    case queue, semaphore, singleFlight, coalescedFlight, cache, deferred

    var testDescription: String { rawValue }

    /// Starts it. `again` is to be called in a later turn, and makes a future of its own of the whole.
    func start(on loop: EventLoop, _ again: @escaping (Future<Int>) -> Future<Int>) -> Future<Int> {
        var whole: Future<Int>!
        func body() -> Future<Int> { again(whole) }
        func later(_ number: Int) -> Future<Int> { number == 1 ? loop.submit { 1 } : body() }
        let source = CancellationSource(on: loop)
        switch self {
        case .promise:
            let promise = loop.makePromise(of: Int.self)
            whole = promise.future
            promise.complete(using: body())
        case .flatMap: whole = loop.submit {}.flatMap(body)
        case .flatAlways: whole = loop.submit { 1 }.flatAlways(body)
        case .flatTap: whole = loop.submit { 1 }.flatTap { _ in body() }
        case .traverse:
            whole = loop.traverse([1, 2, 3], maxConcurrent: 2) { $0 < 3 ? loop.submit { 1 } : body() }.map(
                \.count)
        case .traverseOneByOne: whole = loop.traverse([1, 2], maxConcurrent: 1, later).map(\.count)
        case .traverseWithToken:
            whole = loop.traverse([1, 2], maxConcurrent: 1, token: source.token, later).map(\.count)
        case .traverseSettled: whole = loop.traverseSettled([1, 2], maxConcurrent: 1, later).map(\.count)
        case .forEach: whole = loop.forEach([1, 2], later).map { 0 }
        case .repeatWhile:
            var runs = 0
            whole = loop.repeat(while: { true }) { () throws -> Future<Int> in
                runs += 1
                return later(runs)
            }.map { 0 }
        case .fold:
            whole = Future.fold([loop.submit { 1 }], 0) { _, _ in body() }
        case .repeatEvery:
            whole = loop.repeat(every: .ticks(1)) { () throws -> Future<Int> in body() }.future.map { 0 }
        case .repeatEveryWithToken:
            whole = loop.repeat(every: .ticks(1), token: source.token) { () throws -> Future<Int> in body() }
                .future.map { 0 }
        case .retry:
            whole = loop.retry(backoff: .constant(.zero)) { attempt in
                attempt == 1 ? loop.submit { throw Failure() } : body()
            }
        case .retryAsking:
            let ask: (any Error) throws -> Future<Bool> = { _ in body().map { _ in true } }
            whole = loop.retry(backoff: .constant(.zero), when: ask) { _ in loop.submit { throw Failure() } }
                .flatMapError { error in loop.failed(error is Failure ? FutureError.cycle : error) }
        case .poll:
            var runs = 0
            let isTwo = { (number: Int) in number == 2 }
            whole = loop.poll(every: .ticks(1), until: isTwo) { () throws -> Future<Int> in
                runs += 1
                return later(runs)
            }
        case .repeatOnError:
            var runs = 0
            whole = Deferred<Int> { () throws -> Future<Int> in
                runs += 1
                return runs == 1 ? loop.submit { throw Failure() } : body()
            }.onErrorRepeat(maxRepetitions: 3).start(on: loop)
        case .queue: whole = FutureQueue(on: loop).enqueue { () throws -> Future<Int> in body() }
        case .semaphore:
            let semaphore = FutureSemaphore(count: 1, on: loop)
            whole = loop.submit {}.flatMap { semaphore.with { body() } }.always { _ = semaphore }
        case .singleFlight:
            let flight = SingleFlight<Int>(on: loop)
            whole = flight.perform { loop.submit {}.flatMap(body) }
        case .coalescedFlight:
            let flight = SingleFlight<Int>(coalescing: true, on: loop)
            whole = flight.perform { () throws -> Future<Int> in flight.perform(body) }.always { _ = flight }
        case .cache:
            let cache = FutureCache<String, Int>(on: loop)
            whole = cache.findOrFetch("a") {
                loop.submit {}.flatMap { () throws -> Future<Int> in
                    cache.findOrFetch("a") { loop.succeeded(1) }
                }
            }
        case .deferred:
            whole = Deferred<Int> { () throws -> Future<Int> in loop.submit {}.flatMap(body) }.start(on: loop)
        }
        return whole.always { withExtendedLifetime(source) {} }
    }
}

struct CycleTests {
    @Test(
        "what waits for itself fails, whoever starts it", arguments: Driver.allCases, Circle.allCases)
    func itself(driver: Driver, circle: Circle) throws {
        try withLoop(driver) { loop in
            // What fails on the way is not to be printed: finding its place takes time.
            loop.onUnhandledFailure = { _ in }
            let ways: [(Future<Int>) -> Future<Int>] = [
                { $0 }, { $0.map { $0 + 1 } }, { $0.flatMap { loop.succeeded($0) }.always {} },
            ]
            for way in ways {
                let future = circle.start(on: loop, way)
                expect(future.timeout(after: .seconds(1)), failsWith: FutureError.cycle)
                future.ignoreFailure()
            }
        }
    }
}
