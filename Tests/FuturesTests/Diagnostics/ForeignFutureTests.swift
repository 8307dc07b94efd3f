import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// A future of another loop is refused where it is given, whether it has completed or not. The loops of these tests have
/// one thread, so the check of the thread finds nothing.
struct ForeignFutureTests {
    /// What takes a future: words of its line in `api.txt`, and a call on `loop` with one of another loop.
    private struct Taker: CustomTestStringConvertible, Sendable {
        typealias Give = @Sendable (_ loop: EventLoop, _ foreign: Future<Int>) throws -> Void
        let testDescription: String
        let give: Give

        init(_ line: String, _ give: @escaping Give) { (testDescription, self.give) = (line, give) }
    }

    private static let takers =
        combinators + completions + typed + groups + coordination + repetitions + recipes

    private static let combinators = [
        Taker("Future: func flatMap<NewValue>") { l, f in _ = l.succeeded(1).flatMap { _ in f } },
        Taker("Future: func flatMap<C>") { l, f in _ = l.succeeded(1).flatMap { _ in AnyCompleting(f) } },
        Taker("Future: func flatMapError(") { l, f in _ = l.failed(Failure()).flatMapError { _ in f } },
        Taker("Future: func flatMapError<C>") { l, f in
            _ = l.failed(Failure()).flatMapError { _ in AnyCompleting(f) }
        },
        Taker("Future: func flatMapResult<NewValue>") { l, f in _ = l.succeeded(1).flatMapResult { _ in f } },
        Taker("Future: func flatMapResult<C>") { l, f in
            _ = l.succeeded(1).flatMapResult { _ in AnyCompleting(f) }
        },
        Taker("FutureScope: … add<Value>(_ future: Future<Value>)") { l, f in FutureScope(on: l).add(f) },
        Taker("ScopeMembership: init(ended") { l, f in
            FutureScope(on: l).add(ScopeMembership(ended: f.asVoid(), cancel: {}))
        },
        Taker("Future: func flatTap") { l, f in _ = l.succeeded(1).flatTap { _ in f } },
        Taker("Future: func flatTapError") { l, f in
            _ = l.failed(Failure(), of: Int.self).flatTapError { _ in f }
        },
        Taker("Future: func flatTapResult") { l, f in _ = l.succeeded(1).flatTapResult { _ in f } },
        Taker("Future: func flatAlways") { l, f in _ = l.succeeded(1).flatAlways { f } },
        Taker("Future: func and<Other>") { l, f in _ = l.succeeded(1).and(f) },
        Taker("Future: func delay<Ignored>(until") { l, f in _ = l.never(of: Int.self).delay(until: f) },
        Taker("Future: func fallback") { l, f in _ = l.never().fallback(to: f) },
        Taker("Future: func cascade") { l, f in f.cascade(to: l.makePromise(of: Int.self)) },
        Taker("Future: func abort(when") { l, f in _ = l.never(of: Int.self).abort(when: [f.asVoid()]) },
        Taker("Future: func timeout(after limit: Duration, with") { l, f in
            _ = l.never().timeout(after: .seconds(60), with: .using(f))
        },
    ]

    private static let completions = [
        Taker("Promise: … complete(using") { l, f in
            l.makePromise().complete(using: f)
        },
        Taker("Promise: … complete(_") { l, f in
            l.makePromise().complete(FutureCompletion.using(f))
        },
        Taker("Promise: … complete<C>") { l, f in
            l.makePromise().complete(AnyCompleting(f))
        },
        Taker("Promise: func complete(withFirstOf") { l, f in
            l.makePromise(of: Int.self).complete(withFirstOf: [f])
        },
        Taker("Promise: … completeIfPending(_ body: () throws -> FutureCompletion") { l, f in
            l.makePromise(of: Int.self).completeIfPending { FutureCompletion.using(f) }
        },
        Taker("Promise: … completeIfPending<C>") { l, f in
            l.makePromise(of: Int.self).completeIfPending { AnyCompleting(f) }
        },
        Taker("CancelResponse: case complete") { l, f in
            let promise = l.makePromise(of: Int.self)
            promise.onCancelRequest { .complete(.using(f)) }
            promise.future.cancel()
        },
        Taker("EventLoop: func completed<C>(_ completing: C)") { l, f in _ = l.completed(AnyCompleting(f)) },
        Taker("EventLoop: func completed<C>(_ completing: C, after") { l, f in
            _ = l.completed(AnyCompleting(f), after: .zero)
        },
        Taker("EventLoop: func completed<Value>(_ completion: FutureCompletion<Value>)") { l, f in
            _ = l.completed(.using(f))
        },
        Taker("EventLoop: func completed<Value>(_ completion: FutureCompletion<Value>, after") { l, f in
            _ = l.completed(.using(f), after: .seconds(60))
        },
        Taker("EventLoop: func flatSubmit<C>") { l, f in _ = l.flatSubmit { AnyCompleting(f) } },
        Taker("EventLoop: func flatSubmit<Value>") { l, f in _ = l.flatSubmit { FutureCompletion.using(f) } },
        Taker("EventLoop: func run<Value>(until") { l, f in _ = try l.run(until: f) },
    ]

    private typealias Typed = TypedFuture<Int, Failure>

    private static let typed = [
        Taker("TypedFuture: func and") { l, f in _ = Typed.succeeded(1, on: l).and(f.asTyped) },
        Taker("TypedFuture: func flatMap<") { l, f in
            _ = Typed.succeeded(1, on: l).flatMap { _ in f.asTyped }
        },
        Taker("TypedFuture: func flatMapError") { l, f in
            _ = Typed.failed(Failure(), on: l).flatMapError { _ in f.asTyped }
        },
        Taker("TypedFuture: func flatMapResult") { l, f in
            _ = Typed.succeeded(1, on: l).flatMapResult { _ in f.asTyped }
        },
        Taker("TypedFuture: static func all") { l, f in _ = Typed.all([f.asTyped], on: l) },
        Taker("TypedFuture: static func race") { l, f in _ = Typed.race([f.asTyped], on: l) },
        Taker("TypedPromise: … complete(using") { l, f in
            l.makePromise(of: Int.self, failingWith: Failure.self).complete(using: f.asTyped)
        },
        Taker("TypedDeferred: func flatMap") { l, f in
            _ = TypedDeferred<Int, Failure>(result: .success(1), on: l)
                .flatMap { _ in TypedDeferred { f.asTyped } }.start()
        },
    ]

    private static let groups = [
        Taker("Future: static func all(") { l, f in _ = Future.all([l.succeeded(1), f]) },
        Taker("Future: static func allSettled") { l, f in _ = Future.allSettled([f], on: l) },
        Taker("Future: static func find") { l, f in _ = Future.find([f], on: l) { _ in true } },
        Taker("Future: static func firstCompleted") { l, f in _ = Future.firstCompleted(1, of: [f], on: l) },
        Taker("Future: static func firstSuccess") { l, f in _ = Future.firstSuccess([f], on: l) },
        Taker("Future: static func fold<Total>") { l, f in
            _ = Future.fold([l.succeeded(1)], 0) { _, _ in f }
        },
        Taker("Future: static func inCompletionOrder") { l, f in
            _ = Future.inCompletionOrder([f], on: l)
        },
        Taker("Future: static func mapEach") { l, f in _ = Future.mapEach([f], on: l) { _, _ in 1 } },
        Taker("Future: static func race") { l, f in _ = Future.race([f], on: l) },
        Taker("Future: static func reduce<Total> … _ initial") { l, f in
            _ = Future.reduce([f], 0, on: l) { $0 + $1 }
        },
        Taker("Future: static func reduce<Total> … into initial") { l, f in
            _ = Future.reduce([f], into: 0, on: l) { $0 += $1 }
        },
        Taker("Future: static func select(from") { l, f in _ = Future.select(from: [f], on: l) },
        Taker("Future: static func select<A, B>") { l, f in _ = Future.select(l.succeeded(1), or: f) },
        Taker("Future: static func sequence") { l, f in _ = Future.sequence([l.succeeded(1), f]) },
        Taker("func combine<each Value>(_ futures") { l, f in _ = combine(l.succeeded(1), f) },
    ]
}

extension ForeignFutureTests {
    private static let coordination = [
        Taker("FutureCache: func findOrFetch") { l, f in _ = FutureCache<Int, Int>(on: l).findOrFetch(1) { f }
        },
        Taker("FutureGate: func with") { l, f in _ = FutureGate(on: l).with { f } },
        Taker("FutureMutex: func withLock") { l, f in _ = FutureMutex(on: l).withLock { f } },
        Taker("FutureQueue: … enqueue<Value> … -> Future") { l, f in FutureQueue(on: l).enqueue { f } },
        Taker("FutureQueue: … enqueueBatch") { l, f in
            FutureQueue(on: l).enqueueBatch { _ in f }
        },
        Taker("FutureReadWriteLock: func withReading") { l, f in
            _ = FutureReadWriteLock(on: l).withReading { f }
        },
        Taker("FutureReadWriteLock: func withWriting") { l, f in
            _ = FutureReadWriteLock(on: l).withWriting { f }
        },
        Taker("FutureSemaphore: func with") { l, f in _ = FutureSemaphore(count: 1, on: l).with { f } },
        Taker("KeyedSingleFlight: func perform") { l, f in
            _ = KeyedSingleFlight<Int, Int>(on: l).perform(1) { f }
        },
        Taker("SingleFlight: func perform") { l, f in _ = SingleFlight(on: l).perform { f } },
        Taker("LoopSequence.AsyncIterator: init(next") { l, f in
            _ = LoopSequence<Int>(on: l) { .init(next: { f.map { $0 } }) }.first()
        },
        Taker("LoopSequence: func mapFuture") { l, f in _ = l.succeeded(1).values.mapFuture { _ in f }.first()
        },
        Taker("LoopSequence: func mapLatest") { l, f in _ = l.succeeded(1).values.mapLatest { _ in f }.first()
        },
    ]

    private static let repetitions = [
        Taker("EventLoop: … `repeat`<Ignored>(every") { l, f in
            l.repeat(every: .ticks(1), after: .zero) { f }
        },
        Taker("EventLoop: func `repeat`<Ignored>(times") { l, f in _ = l.repeat(times: 1) { _ in f } },
        Taker("EventLoop: func `repeat`<Ignored>(while") { l, f in _ = l.repeat(while: { true }, { f }) },
        Taker("EventLoop: func forEach") { l, f in _ = l.forEach([1]) { _ in f } },
        Taker("EventLoop: func traverse<") { l, f in _ = l.traverse([1], on: .loop) { _ in f } },
        Taker("EventLoop: func traverseSettled") { l, f in _ = l.traverseSettled([1]) { _ in f } },
        Taker("EventLoop: func poll") { l, f in _ = l.poll(every: .ticks(1), until: { _ in true }) { f } },
        Taker("EventLoop: func retry<Value> … (any Error) -> Bool") { l, f in
            _ = l.retry(attempts: 1) { _ in f }
        },
        Taker("EventLoop: func retry<Value> … (any Error, Int) -> Bool") { l, f in
            _ = l.retry(when: { _, _ in true }) { _ in f }
        },
        Taker("EventLoop: func retry<Value> … (any Error) throws -> Future<Bool>") { l, f in
            _ = l.retry(when: { _ in f.map { $0 > 1 } }) { _ in l.failed(Failure(), of: Int.self) }
        },
    ]

    private static let recipes = [
        Taker("Deferred: init(_ recipe") { l, f in _ = Deferred { f }.start(on: l) },
        Taker("Deferred: func and") { l, f in
            _ = Deferred.completed(.success(1)).and(Deferred { f }).start(on: l)
        },
        Taker("Deferred: func flatMap<NewValue>(_ transform: @escaping (Value) throws -> Deferred") { l, f in
            _ = Deferred.completed(.success(1)).flatMap { _ in Deferred { f } }.start(on: l)
        },
        Taker("Deferred: func flatMap<NewValue>(_ transform: @escaping (Value) throws -> Future") { l, f in
            _ = Deferred.completed(.success(1)).flatMap { _ in f }.start(on: l)
        },
        Taker("Deferred: func transform") { l, f in
            _ = Deferred.completed(.success(1)).transform { _ in f }.start(on: l)
        },
        Taker("Deferred: func onErrorRepeat … -> Future") { l, f in
            _ = Deferred<Int>.completed(.failure(Failure())).onErrorRepeat { _ in f.map { $0 > 1 } }.start(
                on: l)
        },
        Taker("Deferred: func onResultRepeat … -> Future") { l, f in
            _ = Deferred.completed(.success(1)).onResultRepeat { _ in f.map { $0 > 1 } }.start(on: l)
        },
        Taker("func combine<each Value>(_ deferreds") { l, f in
            _ = combine(Deferred { f }, Deferred.completed(.success(1))).start(on: l)
        },
    ]

    private enum SequenceTaker: String, CaseIterable, Codable {
        case sequence, merge, zip
    }

    @Test("an iterator of another loop traps where a sequence gets it", arguments: SequenceTaker.allCases)
    private func iterator(taker: SequenceTaker) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [taker] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let ticks = other.ticks(every: .ticks(1))
            switch taker {
            case .sequence: _ = LoopSequence(on: loop, makeIterator: ticks.makeAsyncIterator).first()
            case .merge: _ = loop.ticks(every: .ticks(1)).merge(with: ticks).first()
            case .zip: _ = loop.ticks(every: .ticks(1)).zip(ticks).first()
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let sentence =
            "A sequence was given an iterator of another event loop. Make the sequence on the loop on which the "
            + "elements come."
        #expect(printed.contains(sentence))
    }

    @Test(
        "a future of another loop traps where it is given", arguments: takers.indices.sampled, [false, true])
    func refused(index: Int, hasCompleted: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index, hasCompleted] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let promise = other.makePromise(of: Int.self)
            if hasCompleted { promise.succeed(1) }
            try Self.takers[index].give(loop, promise.future)
            loop.advance(by: .ticks(2))
            withExtendedLifetime(promise) {}
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let sentence =
            "A future of another event loop was given where a future of this loop is needed."
        #expect(printed.contains(sentence), "\(Self.takers[index].testDescription)")
    }
}

/// What only its completion makes a future of.
private struct AnyCompleting: Completing {
    let completion: FutureCompletion<Int>

    init(_ future: Future<Int>) { completion = .using(future) }
}

extension Future<Int> {
    fileprivate var asTyped: TypedFuture<Int, Failure> { typed { _ in Failure() } }
}
