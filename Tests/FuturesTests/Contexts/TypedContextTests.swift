import Futures
import TestSupport
import Testing

/// What a context and a token do to the registering methods of typed futures.
struct TypedContextTests {
    private typealias Typed = TypedFuture<Int, Refusal>
    private typealias Register =
        @Sendable (Typed, LocalContext, CancellationToken, @escaping () -> Void) -> Future<Void>?

    /// Each registering method, whether its callback is for the failure, and whether it hears of its token.
    private static let methods: [(name: String, forFailure: Bool, hears: Bool, register: Register)] = [
        ("map", false, false, { f, c, t, body in f.map(on: c, token: t) { _ in body() }.erased }),
        (
            "flatMap", false, false,
            { f, c, t, body in
                let loop = f.loop
                return f.flatMap(on: c, token: t) { _ in .succeeded(body(), on: loop) }.erased
            }
        ),
        (
            "mapError", true, false,
            { f, c, t, body in
                f.mapError(on: c, token: t) { failure in
                    body()
                    return failure
                }.erased.asVoid()
            }
        ),
        (
            "mapError(to:)", true, false,
            { f, c, t, body in
                f.mapError(to: Refused.self, on: c, token: t) { failure in
                    body()
                    return Refused(failure)
                }.erased.asVoid()
            }
        ),
        (
            "flatMapError", true, false,
            { f, c, t, body in
                f.flatMapError(on: c, token: t) { failure -> Typed in
                    body()
                    return .failed(failure, on: f.loop)
                }.erased.asVoid()
            }
        ),
        (
            "recover", true, false,
            { f, c, t, body in
                f.recover(on: c, token: t) { _ in
                    body()
                    return 1
                }.erased.asVoid()
            }
        ),
        (
            "mapResult", false, false,
            { f, c, t, body in
                let mapped: TypedFuture<Void, Never> = f.mapResult(on: c, token: t) { _ in body() }
                return mapped.erased
            }
        ),
        ("tap", false, false, { f, c, t, body in f.tap(on: c, token: t) { _ in body() }.erased.asVoid() }),
        (
            "tapError", true, false,
            { f, c, t, body in f.tapError(on: c, token: t) { _ in body() }.erased.asVoid() }
        ),
        ("always", false, true, { f, c, t, body in f.always(on: c, token: t, body).erased.asVoid() }),
        (
            "whenComplete", false, true,
            { f, c, t, body in
                f.whenComplete(on: c, token: t) { _ in body() }
                return nil
            }
        ),
        (
            "whenSuccess", false, false,
            { f, c, t, body in
                f.whenSuccess(on: c, token: t) { _ in body() }
                return nil
            }
        ),
        (
            "whenFailure", true, false,
            { f, c, t, body in
                f.whenFailure(on: c, token: t) { _ in body() }
                return nil
            }
        ),
        (
            "whenCancelled", false, true,
            { f, c, t, body in
                f.whenCancelled(on: c, token: t, body)
                return nil
            }
        ),
    ]

    @Test(
        "a token ends one registration on a typed future, which itself notices nothing",
        arguments: Driver.allCases, methods.indices)
    func token(driver: Driver, index: Int) throws {
        let method = Self.methods[index]
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let derived = method.register(promise.future.ignoreFailure(), .default, source.token) {
                seen.add(method.name)
            }
            source.cancel()
            try settle(loop)
            if let derived { #expect("\(derived)" == "Future(cancelled)") }
            #expect(seen.entries == (method.hears ? [method.name] : []))
            #expect(promise.future.result == nil)
            if method.forFailure { promise.fail(.refused) } else { promise.succeed(1) }
            try settle(loop)
            #expect(seen.entries.count == (method.hears ? 1 : 0))
        }
    }

    @Test(
        "a callback on a typed future runs where its context says",
        arguments: Driver.allCases, methods.indices)
    func context(driver: Driver, index: Int) throws {
        let method = Self.methods[index]
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            method.register(promise.future.ignoreFailure(), .immediate, .none) {
                seen.add(method.name)
            }?.ignoreFailure()
            if method.name == "whenCancelled" {
                promise.cancel()
            } else if method.forFailure {
                promise.fail(.refused)
            } else {
                promise.succeed(1)
            }
            #expect(seen.entries == [method.name])
        }
    }
}
