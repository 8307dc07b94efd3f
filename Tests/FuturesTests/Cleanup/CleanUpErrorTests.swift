import Futures
import FuturesTesting
import Testing
import UVFutures

/// How a clean-up ends.
private enum End: CaseIterable {
    case throwsError, fails, failsLater, isCancelled, isCancelledLater, throwsCancellation, isWrong

    static let cleanUp = Failure(2)

    /// What the clean-up fails with.
    var isCancellation: Bool { [.isCancelled, .isCancelledLater, .throwsCancellation].contains(self) }

    func end(on loop: EventLoop) throws -> FutureCompletion<Int> {
        switch self {
        case .throwsError: throw Self.cleanUp
        case .fails: .using(loop.failed(Self.cleanUp))
        case .failsLater: .using(loop.completed(.failure(Self.cleanUp), after: .zero))
        case .isCancelled: .cancelled
        case .isCancelledLater: .using(loop.completed(FutureCompletion.cancelled, after: .zero))
        case .throwsCancellation: throw CancellationError()
        case .isWrong: .failure(Self.cleanUp)
        }
    }

    /// The same, for closures that return nothing.
    func throwError() throws {
        if isCancellation { throw CancellationError() } else { throw Self.cleanUp }
    }
}

struct CleanUpErrorTests {
    private typealias Verb = (name: String, apply: (Future<Int>, End) -> Future<Int>)

    /// Those that look at an outcome or clean up after it, and pass it on.
    private static var verbs: [Verb] {
        [
            ("flatAlways", { f, end in f.flatAlways { try end.end(on: f.loop) } }),
            ("flatTapError", { f, end in f.flatTapError { _ in try end.end(on: f.loop) } }),
            (
                "flatTapError, cancellation too",
                { f, end in f.flatTapError(including: .cancellation) { _ in try end.end(on: f.loop) } }
            ),
            ("flatTapResult", { f, end in f.flatTapResult { _ in try end.end(on: f.loop) } }),
            ("tapError", { f, end in f.tapError { _ in try end.throwError() } }),
            ("tapResult", { f, end in f.tapResult { _ in try end.throwError() } }),
            (
                "tapError, cancellation too",
                { f, end in f.tapError(including: .cancellation) { _ in try end.throwError() } }
            ),
            (
                "deferred tapError",
                { f, end in
                    Deferred<Int> { () throws -> Future<Int> in f }
                        .transform { $0.tapError { _ in try end.throwError() } }.start(on: f.loop)
                }
            ),
        ]
    }

    /// The same, run by other threads.
    private static var remoteVerbs: [Verb] {
        [
            ("tapError", { f, end in f.tapError(on: .pool) { [end] _ in try end.throwError() } }),
            ("tapResult", { f, end in f.tapResult(on: .pool) { [end] _ in try end.throwError() } }),
        ]
    }

    @Test("a clean-up that fails after a failure leaves both errors to be had", arguments: Driver.allCases)
    func both(driver: Driver) throws {
        try withLoop(driver) { loop in
            for verb in Self.verbs + (driver == .libuv ? Self.remoteVerbs : []) {
                for end in End.allCases {
                    let future = verb.apply(loop.failed(Failure(1)), end)
                    let error = #expect(throws: CleanUpError.self, "\(verb.name) \(end)") {
                        try loop.run(until: future)
                    }
                    #expect(error?.error as? Failure == Failure(1), "\(verb.name) \(end)")
                    if end.isCancellation {
                        #expect(error?.cleanUpError is CancellationError, "\(verb.name) \(end)")
                    } else {
                        #expect(error?.cleanUpError as? Failure == Failure(2), "\(verb.name) \(end)")
                        #expect(
                            "\(error!)"
                                == "Failure(code: 1); and the clean-up after that failed: Failure(code: 2)")
                    }
                }
            }
        }
    }

    @Test(
        "a clean-up that fails after a value or a cancellation fails with its own error",
        arguments: Driver.allCases)
    func alone(driver: Driver) throws {
        try withLoop(driver) { loop in
            func future(_ outcome: Result<Int, any Error>) -> Future<Int> { loop.completed(outcome) }
            for end in [End.throwsError, .fails, .failsLater, .isWrong] {
                for outcome in [Result<Int, any Error>.success(1), .failure(CancellationError())] {
                    expect(
                        future(outcome).flatAlways { try end.end(on: loop) }, failsWith: End.cleanUp)
                    expect(
                        future(outcome).flatTapResult { _ in try end.end(on: loop) }, failsWith: End.cleanUp)
                    expect(future(outcome).tapResult { _ in try end.throwError() }, failsWith: End.cleanUp)
                }
                expect(
                    loop.failed(CancellationError(), of: Int.self)
                        .flatTapError(including: .cancellation) { _ in try end.end(on: loop) },
                    failsWith: End.cleanUp)
            }
            expectCancelled(loop.succeeded(1).flatAlways { FutureCompletion<Void>.cancelled })
        }
    }

    @Test("clean-ups that fail one after another keep all their errors", arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = loop.failed(Failure(1), of: Int.self)
                .flatAlways { loop.failed(Failure(2), of: Void.self) }
                .flatTapError { _ in loop.failed(Failure(3), of: Void.self) }
            let error = #expect(throws: CleanUpError.self) { try loop.run(until: future) }
            #expect(error?.cleanUpError as? Failure == Failure(3))
            #expect((error?.error as? CleanUpError)?.error as? Failure == Failure(1))
        }
    }

    @Test(
        "a future that is cancelled while its clean-up fails reports the clean-up's error alone",
        arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add($0) }
            let queued = loop.failed(Failure(1), of: Int.self).flatAlways {
                loop.failed(Failure(2), of: Void.self)
            }
            #expect(queued.cancel())
            var own: Future<Int>!
            own = loop.submit { throw Failure(3) }.flatAlways {
                own.cancel()
                return loop.succeeded()
            }
            try settle(loop)
            try settle(loop)
            #expect(own.isCancelled)
            own = nil
            try settle(loop)
            #expect(seen.entries == ["Failure(code: 2)"])
            loop.onUnhandledFailure = nil
        }
    }

    @Test("what is waited for in a clean-up after a failure is cancelled with it", arguments: Driver.allCases)
    func cancelling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = loop.failed(Failure(1), of: Int.self).flatAlways { promise.future }
            try settle(loop)
            #expect(future.cancel())
            #expect(future.isCancelled && promise.future.isCancelled)
        }
    }
}
