import Futures
import FuturesTesting
import Testing

/// What a closure returns to a future that is no longer wanted.
struct UnwantedFutureTests {
    /// Makes a future of a closure that returns another one, and that is called only once there is a future to cancel.
    private typealias Make =
        @Sendable (EventLoop, CancellationToken, @escaping () -> Future<Int>) -> Future<Void>

    private struct Verb: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let takesToken: Bool
        let make: Make

        init(_ name: String, takesToken: Bool = false, _ make: @escaping Make) {
            (testDescription, self.takesToken, self.make) = (name, takesToken, make)
        }
    }

    private static let verbs = combinators + coordination + repetitions + recipes

    private static let combinators = [
        Verb("flatMap", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatMap(token: token) { _ in body() }.asVoid()
        },
        Verb("flatMap at once", takesToken: true) { loop, token, body in
            loop.sleep(for: .zero).flatMap(on: .immediate, token: token, body).asVoid()
        },
        Verb("flatMap to a completion", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatMap(token: token) { _ in FutureCompletion.using(body()) }.asVoid()
        },
        Verb("flatMap of one that is wanted by another") { loop, _, body in
            loop.succeeded(1).flatMap { _ in body() }.map { $0 }.flatMap { loop.succeeded($0) }.asVoid()
        },
        Verb("flatMap in a flatMap") { loop, _, body in
            loop.succeeded(1).flatMap { _ in loop.submit {}.flatMap(body) }.asVoid()
        },
        Verb("flatMapResult", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatMapResult(token: token) { _ in body() }.asVoid()
        },
        Verb("flatMapResult to a completion", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatMapResult(token: token) { _ in FutureCompletion.using(body()) }.asVoid()
        },
        Verb("flatMapError", takesToken: true) { loop, token, body in
            loop.failed(Failure(), of: Int.self).flatMapError(token: token) { _ in body() }.asVoid()
        },
        Verb("flatMapError to a completion", takesToken: true) { loop, token, body in
            loop.failed(Failure()).flatMapError(token: token) { _ in FutureCompletion.using(body()) }
                .asVoid()
        },
        Verb("flatMapError of cancellation", takesToken: true) { loop, token, body in
            loop.failed(CancellationError())
                .flatMapError(including: .onlyCancellation, token: token) { _ in body() }.asVoid()
        },
        Verb("flatTap", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatTap(token: token) { _ in body() }.asVoid()
        },
        Verb("flatTapError", takesToken: true) { loop, token, body in
            loop.failed(Failure(), of: Int.self).flatTapError(token: token) { _ in body() }.asVoid()
        },
        Verb("flatTapResult", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatTapResult(token: token) { _ in body() }.asVoid()
        },
        Verb("flatAlways", takesToken: true) { loop, token, body in
            loop.succeeded(1).flatAlways(token: token, body).asVoid()
        },
        Verb("flatSubmit") { loop, _, body in loop.flatSubmit(body).asVoid() },
        Verb("typed flatMap", takesToken: true) { loop, token, body in
            let typed = TypedFuture<Int, Failure>.succeeded(1, on: loop)
            return typed.flatMap(token: token) { _ in body().typed { _ in Failure() } }.erased.asVoid()
        },
        Verb("typed flatMapError", takesToken: true) { loop, token, body in
            let typed = TypedFuture<Int, Failure>.failed(Failure(), on: loop)
            return typed.flatMapError(token: token) { _ in body().typed { _ in Refused(.refused) } }.erased
                .asVoid()
        },
        Verb("fold", takesToken: true) { loop, token, body in
            Future.fold([loop.succeeded(1)], 0, token: token) { _, _ in body() }.asVoid()
        },
        Verb("completeIfPending") { loop, _, body in
            let promise = loop.makePromise(of: Int.self)
            loop.submit { promise.completeIfPending { body() } }.whenComplete { _ in }
            return promise.future.asVoid()
        },
    ]

    private static let coordination = [
        Verb("Semaphore.with", takesToken: true) { loop, token, body in
            FutureSemaphore(count: 1, on: loop).with(token: token, body).asVoid()
        },
        Verb("AsyncMutex.withLock", takesToken: true) { loop, token, body in
            FutureMutex(on: loop).withLock(token: token, body).asVoid()
        },
        Verb("withReading", takesToken: true) { loop, token, body in
            FutureReadWriteLock(on: loop).withReading(token: token, body).asVoid()
        },
        Verb("withWriting", takesToken: true) { loop, token, body in
            FutureReadWriteLock(on: loop).withWriting(token: token, body).asVoid()
        },
        Verb("FutureQueue.enqueue") { loop, _, body in FutureQueue(on: loop).enqueue(body).asVoid() },
        Verb("FutureQueue.enqueueBatch") { loop, _, body in
            FutureQueue(on: loop).enqueueBatch { _ in body() }.asVoid()
        },
        Verb("SingleFlight.perform") { loop, _, body in
            SingleFlight(coalescing: true, on: loop).perform(body).asVoid()
        },
    ]

    private static let repetitions = [
        Verb("retry", takesToken: true) { loop, token, body in
            loop.retry(backoff: .constant(.zero), token: token) { attempt in
                attempt == 2 ? body() : loop.failed(Failure())
            }.asVoid()
        },
        Verb("the condition of retry", takesToken: true) { loop, token, body in
            loop.retry(when: { _ in body().map { _ in true } }, token: token) { _ in
                loop.failed(Failure(), of: Int.self)
            }.asVoid()
        },
        Verb("poll", takesToken: true) { loop, token, body in
            var count = 0
            return loop.poll(every: .ticks(1), until: { $0 > 1 }, token: token) {
                count += 1
                return count == 2 ? body() : loop.succeeded(count)
            }.asVoid()
        },
        Verb("repeat(every:)", takesToken: true) { loop, token, body in
            loop.repeat(every: .ticks(1), token: token, body).future
        },
        Verb("repeat(times:)", takesToken: true) { loop, token, body in
            loop.repeat(times: 3, token: token) { $0 == 1 ? body() : loop.succeeded(1) }
        },
        Verb("repeat(while:)", takesToken: true) { loop, token, body in
            var count = 0
            return loop.repeat(while: { true }, token: token) {
                count += 1
                return count == 2 ? body() : loop.succeeded(1)
            }
        },
        Verb("traverse", takesToken: true) { loop, token, body in
            loop.traverse(1...3, maxConcurrent: 1, token: token) { $0 == 2 ? body() : loop.succeeded(1) }
                .asVoid()
        },
        Verb("traverse on a context", takesToken: true) { loop, token, body in
            loop.traverse(1...3, on: .nextTurn, token: token) { $0 == 2 ? body() : loop.succeeded(1) }
                .asVoid()
        },
        Verb("traverseSettled", takesToken: true) { loop, token, body in
            loop.traverseSettled(1...3, on: .loop, token: token) { $0 == 2 ? body() : loop.succeeded(1) }
                .asVoid()
        },
        Verb("forEach", takesToken: true) { loop, token, body in
            loop.forEach(1...3, token: token) { $0 == 2 ? body() : loop.succeeded(1) }
        },
    ]

    private static let recipes = [
        Verb("Deferred.flatMap", takesToken: true) { loop, token, body in
            Deferred.completed(.success(1)).flatMap { _ in body() }.start(on: loop, token: token).asVoid()
        },
        Verb("Deferred.flatMap to a recipe", takesToken: true) { loop, token, body in
            Deferred.completed(.success(1)).flatMap { _ in Deferred(body) }.start(on: loop, token: token)
                .asVoid()
        },
        Verb("Deferred.transform", takesToken: true) { loop, token, body in
            Deferred<Int>.completed(.failure(Failure())).transform { $0.flatMapError { _ in body() } }.start(
                on: loop, token: token
            )
            .asVoid()
        },
        Verb("onErrorRepeat", takesToken: true) { loop, token, body in
            secondTime(body, else: { loop.failed(Failure()) }).onErrorRepeat().start(on: loop, token: token)
                .asVoid()
        },
        Verb("the condition of onErrorRepeat", takesToken: true) { loop, token, body in
            Deferred<Int>.completed(.failure(Failure())).onErrorRepeat { _ in body().map { _ in true } }
                .start(on: loop, token: token).asVoid()
        },
        Verb("onResultRepeat", takesToken: true) { loop, token, body in
            secondTime(body, else: { loop.succeeded(1) }).onResultRepeat(delay: .zero)
                .start(on: loop, token: token).asVoid()
        },
        Verb("the condition of onResultRepeat", takesToken: true) { loop, token, body in
            Deferred.completed(.success(1)).onResultRepeat { _ in body().map { _ in true } }
                .start(on: loop, token: token).asVoid()
        },
        Verb("Deferred.retry", takesToken: true) { loop, token, body in
            secondTime(body, else: { loop.failed(Failure()) }).retry(backoff: .constant(.zero))
                .start(on: loop, token: token).asVoid()
        },
        Verb("repeatAndCollect", takesToken: true) { loop, token, body in
            secondTime(body, else: { loop.succeeded(1) }).repeatAndCollect(repetitions: 3)
                .start(on: loop, token: token).asVoid()
        },
        Verb("the user's recursion") { loop, _, body in
            func go(_ round: Int) -> Future<Int> {
                loop.submit {}.flatMap { round == 3 ? body() : go(round + 1) }
            }
            return go(1).asVoid()
        },
    ]

    /// A recipe that does `body` the second time, and something else before.
    private static func secondTime(
        _ body: @escaping () -> Future<Int>, else other: @escaping () -> Future<Int>
    ) -> Deferred<Int> {
        var count = 0
        return Deferred {
            count += 1
            return count == 2 ? body() : other()
        }
    }

    @Test(
        "what a closure returns to a future that it has cancelled is asked to cancel, unless somebody waits for it",
        arguments: Driver.allCases, verbs)
    private func returnedTooLate(driver: Driver, verb: Verb) throws {
        try withLoop(driver) { loop in
            // All wait for the same turns, since a turn of a real loop takes real time.
            var checks: [() -> Void] = []
            for byToken in verb.takesToken ? [false, true] : [false] {
                for isShared in [false, true] {
                    let source = CancellationSource(on: loop)
                    let inner = loop.makePromise(of: Int.self)
                    var (calls, asked) = (0, 0)
                    inner.onCancelRequest {
                        asked += 1
                        return .cancel
                    }
                    if isShared { inner.future.whenComplete { _ in } }
                    var outer: Future<Void>?
                    outer = verb.make(loop, byToken ? source.token : .none) {
                        calls += 1
                        #expect(byToken ? source.cancel() : outer!.cancel())
                        return inner.future
                    }
                    checks.append {
                        #expect("\(outer!)" == "Future(cancelled)")
                        #expect(calls == 1)
                        #expect(asked == (isShared ? 0 : 1))
                        #expect(inner.future.isCompleted == !isShared)
                        outer = nil
                        inner.succeed(1)
                    }
                }
            }
            try pass(.ticks(4), on: loop)
            try settle(loop)
            #expect(loop.statistics.timers == 0)
            for check in checks { check() }
        }
    }

    @Test("a loop of futures that is cancelled inside its own closure ends", arguments: [1, 2, 3])
    func endlessRetry(attempt: Int) throws {
        try withLoop(.virtual) { loop in
            var attempts = 0
            var future: Future<Int>?
            future = loop.retry(attempts: .max, backoff: .constant(.seconds(1))) { number in
                attempts += 1
                if number == attempt { future?.cancel() }
                return loop.failed(Failure())
            }
            if attempt == 1 { future?.cancel() }
            loop.advance(by: .seconds(3600))
            #expect(attempts == attempt)
            #expect("\(future!)" == "Future(cancelled)")
            future = nil
        }
    }

    @Test("a clean-up that was begun for a cancelled future runs to its end", arguments: Driver.allCases)
    func cleanUp(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, cleaning) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let end = promise.future.flatAlways { cleaning.future }
            #expect(end.cancel())
            try settle(loop)
            #expect(cleaning.succeed(1))
        }
    }

    @Test("what a handler that has cancelled its promise answers with is asked", arguments: Driver.allCases)
    func cancelHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.onCancelRequest {
                promise.cancel()
                return .complete(.using(other.future))
            }
            #expect(promise.future.cancel())
            #expect("\(promise.future), \(other.future)" == "Future(cancelled), Future(cancelled)")
        }
    }

    @Test("a step that releases its iterator is asked to cancel", arguments: Driver.allCases, [false, true])
    func iterator(driver: Driver, isLatest: Bool) throws {
        try withLoop(driver) { loop in
            let inner = loop.makePromise(of: Int.self)
            var iterator: LoopSequence<Int>.AsyncIterator?
            let ticks = loop.ticks(every: .ticks(1)).mapFuture { _ in loop.succeeded(1) }
            let step = { (_: Int) in
                iterator = nil
                return inner.future
            }
            iterator = (isLatest ? ticks.mapLatest(step) : ticks.mapFuture(step)).makeAsyncIterator()
            let next = iterator!.pull()
            try pass(.ticks(3), on: loop)
            #expect("\(next), \(inner.future)" == "Future(cancelled), Future(cancelled)")
        }
    }
}
