import Futures
import Testing

/// A value is moved to its only consumer, unless other code can still look at it.
struct MovedValueTests {
    /// Runs `body` with a future of an object, runs the loop, and expects that the object lives as long as what
    /// `body` returns, and is released once.
    private func run(
        _ driver: Driver, _ body: (EventLoop, Promise<Witness>) throws -> [Future<Witness>],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withLoop(driver) { loop in
            var released = 0
            func use() throws {
                weak var object: Witness?
                let futures = try {
                    let promise = loop.makePromise(of: Witness.self)
                    let futures = try body(loop, promise)
                    let witness = Witness { released += 1 }
                    object = witness
                    promise.succeed(witness)
                    return futures
                }()
                try settle(loop)
                #expect(released == (futures.isEmpty ? 1 : 0), sourceLocation: sourceLocation)
                for future in futures {
                    #expect(try future.result?.get() === object, sourceLocation: sourceLocation)
                }
            }
            try use()
            #expect(released == 1, sourceLocation: sourceLocation)
        }
    }

    @Test("the only consumer of a future gets its value", arguments: Driver.allCases)
    func alone(driver: Driver) throws {
        try run(driver) { _, promise in [promise.future.map { $0 }] }
        try run(driver) { loop, promise in [promise.future.flatMap { loop.succeeded($0) }] }
        try run(driver) { _, promise in
            promise.future.whenSuccess { $0.look() }
            return []
        }
    }

    @Test("a value too large for a future is moved out of its box", arguments: Driver.allCases)
    func boxed(driver: Driver) throws {
        try run(driver) { _, promise in
            [promise.future.map { ($0, "a", "b", "c") }.map { [$0.0, $0.0] }.map { $0[1] }]
        }
    }

    @Test("each of several consumers gets the value, in any order", arguments: Driver.allCases)
    func several(driver: Driver) throws {
        try run(driver) { loop, promise in
            let future = promise.future
            future.whenSuccess { $0.look() }
            let mapped = [future.map { $0 }, future.flatMap { loop.succeeded($0) }, future.tap { $0.look() }]
            future.whenComplete { _ in }
            return mapped + [future.map(on: .immediate) { $0 }, future.mapResult { try $0.get() }]
        }
    }

    @Test("a value stays in a future that is kept", arguments: Driver.allCases)
    func kept(driver: Driver) throws {
        try run(driver) { _, promise in
            let (first, second) = (promise.future.map { $0 }, promise.future.branch())
            return [promise.future, first, first.map { $0 }, second, second.map { $0 }]
        }
    }

    @Test("a closure can look at the future that called it", arguments: Driver.allCases)
    func captured(driver: Driver) throws {
        try run(driver) { _, promise in
            let future = promise.future.map { $0 }
            return [future.map { [future] value in (value, try future.result!.get()) }.map { $0.1 }]
        }
        try run(driver) { _, promise in
            let future = promise.future.map(on: .immediate) { $0 }
            return [future.map(on: .immediate) { [weak promise] _ in try promise!.future.result!.get() }]
        }
    }

    @Test("a value stays in a future that another one has followed", arguments: Driver.allCases)
    func linked(driver: Driver) throws {
        try run(driver) { loop, promise in
            let inner = promise.future.map { $0 }
            let last = loop.submit {}.flatMap { inner }.map { $0 }
            return [inner, last]
        }
    }

    @Test("mapFuture sees the value that a consumer before it has got", arguments: Driver.allCases)
    func mapFuture(driver: Driver) throws {
        try run(driver) { loop, promise in
            let source = CancellationSource(on: loop)
            let future = promise.future.map { $0 }
            let mapped = future.map { $0 }
            let seen = future.mapFuture(token: source.token) { try $0.result!.get() }
            let seenAtOnce = future.mapFuture(on: .immediate, token: source.token) { try $0.result!.get() }
            mapped.whenComplete { [source] _ in withExtendedLifetime(source) {} }
            return [mapped, seen, seenAtOnce]
        }
    }

    @Test("a group that a promise ends leaves the value in the promise", arguments: Driver.allCases)
    func group(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: [String].self)
            let groups = [Future.all([promise.future]), Future.all([promise.future], failFast: false)]
            promise.succeed(["a text that is too long to be kept inside of the string itself"])
            let value = try promise.future.result?.get()
            for group in groups { try expect(group.map { $0[0] }, succeedsWith: value!) }
        }
    }

    @Test("a typed failure that whenSuccess has seen is reported", arguments: Driver.allCases)
    func typed(driver: Driver) throws {
        try withLoop(driver) { loop in
            var reported = 0
            loop.onUnhandledFailure = { _ in reported += 1 }
            func fail() {
                let promise = loop.makePromise(of: Witness.self)
                promise.future.typed { _ in Failure(1) }.whenSuccess { $0.look() }
                promise.fail(Failure(2))
            }
            fail()
            try settle(loop)
            #expect(reported == 1)
            loop.onUnhandledFailure = nil
        }
    }
}
