import Futures
import FuturesTesting
import TestSupport
import Testing

/// A token of another loop is refused where it is given, whether it has been cancelled or not, and whether there is
/// anything to wait for or not.
struct ForeignTokenTests {
    /// What takes a token: words of its line in `api.txt`, and a call on a loop with a token of another.
    private struct Taker: CustomTestStringConvertible, Sendable {
        typealias Give = @Sendable (_ loop: EventLoop, _ foreign: CancellationToken) -> Void
        let testDescription: String
        let give: Give

        init(_ line: String, _ give: @escaping Give) { (testDescription, self.give) = (line, give) }
    }

    private static let takers = registering + futures + typed + groups + work + coordination

    private static let registering = RegisteringMethod.allCases.map { method in
        Taker("\(method.rawValue)") { l, t in
            _ = method.register(on: l.never(), token: t) {}
        }
    }

    private static let futures = [
        Taker("Future: func delay(by") { l, t in _ = l.never(of: Int.self).delay(by: .zero, token: t) },
        Taker("Future: func fallback") { l, t in _ = l.never(of: Int.self).fallback(to: l.never(), token: t)
        },
        Taker("Future: func notBefore") { l, t in _ = l.never(of: Int.self).notBefore(.zero, token: t) },
        Taker("Future: func mapFuture") { l, t in _ = l.never(of: Int.self).mapFuture(token: t) { _ in 1 } },
        Taker("Future: func timeout(after limit: Duration, cancellingSource") { l, t in
            _ = l.never(of: Int.self).timeout(after: .zero, token: t)
        },
        Taker("Future: func timeout(after limit: Duration, with") { l, t in
            _ = l.never(of: Int.self).timeout(after: .zero, with: .success(1), token: t)
        },
        Taker("Future: func whenComplete(within") { l, t in
            l.never(of: Int.self).whenComplete(within: .zero, token: t) { _ in
            } timedOut: {
            }
        },
        Taker("Future: func whilePending") { l, t in
            _ = l.never(of: Int.self).whilePending(token: t) { DisposeBag() }
        },
    ]

    private static func never(_ loop: EventLoop) -> TypedFuture<Int, Failure> {
        loop.never(of: Int.self).typed { _ in Failure() }
    }

    private static func failed(_ loop: EventLoop) -> TypedFuture<Int, Failure> {
        .failed(Failure(), on: loop)
    }

    private static func two(_ loop: EventLoop) -> [Future<Int>] { [loop.succeeded(1), loop.never()] }

    private static let typed = [
        Taker("TypedFuture: func always") { l, t in _ = never(l).always(token: t) {} },
        Taker("TypedFuture: func flatMap<") { l, t in _ = never(l).flatMap(token: t) { _ in failed(l) } },
        Taker("TypedFuture: func flatMapError") { l, t in
            _ = never(l).flatMapError(token: t) { _ in failed(l) }
        },
        Taker("TypedFuture: func flatMapResult") { l, t in
            _ = never(l).flatMapResult(token: t) { _ in failed(l) }
        },
        Taker("TypedFuture: func map<") { l, t in _ = never(l).map(token: t) { $0 } },
        Taker("TypedFuture: func mapError") { l, t in _ = never(l).mapError(token: t) { $0 } },
        Taker("TypedFuture: func mapResult") { l, t in _ = never(l).mapResult(token: t) { _ in 1 } },
        Taker("TypedFuture: func recover") { l, t in _ = never(l).recover(token: t) { _ in 1 } },
        Taker("TypedFuture: func tap(") { l, t in _ = never(l).tap(token: t) { _ in } },
        Taker("TypedFuture: func tapError") { l, t in _ = never(l).tapError(token: t) { _ in } },
        Taker("TypedFuture: func whenCancelled") { l, t in never(l).whenCancelled(token: t) {} },
        Taker("TypedFuture: func whenComplete") { l, t in never(l).whenComplete(token: t) { _ in } },
        Taker("TypedFuture: func whenFailure") { l, t in never(l).whenFailure(token: t) { _ in } },
        Taker("TypedFuture: func whenSuccess") { l, t in never(l).whenSuccess(token: t) { _ in } },
    ]

    private static let groups = [
        Taker("Future: static func all(") { l, t in _ = Future.all(two(l), token: t) },
        Taker("Future: static func allSettled") { l, t in _ = Future.allSettled(two(l), token: t) },
        Taker("Future: static func find") { l, t in _ = Future.find(two(l), token: t) { _ in true } },
        Taker("Future: static func firstCompleted") { l, t in
            _ = Future.firstCompleted(1, of: two(l), token: t)
        },
        Taker("Future: static func firstSuccess") { l, t in _ = Future.firstSuccess(two(l), token: t) },
        Taker("Future: static func fold") { l, t in
            _ = Future.fold(two(l), 0, token: t) { _, _ in l.never() }
        },
        Taker("Future: static func mapEach") { l, t in _ = Future.mapEach(two(l), token: t) { _, _ in 1 } },
        Taker("Future: static func race") { l, t in _ = Future.race(two(l), token: t) },
        Taker("Future: static func reduce<Total> … _ initial") { l, t in
            _ = Future.reduce(two(l), 0, token: t) { $0 + $1 }
        },
        Taker("Future: static func reduce<Total> … into initial") { l, t in
            _ = Future.reduce(two(l), into: 0, token: t) { $0 += $1 }
        },
        Taker("Future: static func select(from") { l, t in _ = Future.select(from: two(l), token: t) },
        Taker("Future: static func select<A, B>") { l, t in
            _ = Future.select(l.succeeded(1), or: l.never(of: Int.self), token: t)
        },
        Taker("Future: static func sequence") { l, t in _ = Future.sequence(two(l), token: t) },
    ]

    private static let work: [Taker] = [
        Taker("CancellationToken: static func ||") { l, t in _ = CancellationSource(on: l).token || t },
        Taker("CancellationToken: static func &&") { l, t in _ = CancellationSource(on: l).token && t },
        Taker("CancellationToken: static func any(of") { l, t in
            _ = CancellationToken.any(of: [CancellationSource(on: l).token, t])
        },
        Taker("CancellationToken: static func all(of") { l, t in
            _ = CancellationToken.all(of: [CancellationSource(on: l).token, t])
        },
        Taker("Deferred: func start") { l, t in _ = Deferred { l.never(of: Int.self) }.start(on: l, token: t)
        },
        Taker("EventLoop: … `repeat`(every") { l, t in l.repeat(every: .ticks(1), token: t) {} },
        Taker("EventLoop: … `repeat`<Ignored>(every") { l, t in
            l.repeat(every: .ticks(1), token: t) { l.never(of: Int.self) }
        },
        Taker("EventLoop: func `repeat`<Ignored>(times") { l, t in
            _ = l.repeat(times: 1, token: t) { _ in l.succeeded() }
        },
        Taker("EventLoop: func `repeat`<Ignored>(while") { l, t in
            _ = l.repeat(while: { false }, token: t) { l.succeeded() }
        },
        Taker("EventLoop: … schedule<Value>(after") { l, t in l.schedule(after: .zero, token: t) {} },
        Taker("EventLoop: … schedule<Value>(at") { l, t in l.schedule(at: l.now, token: t) {} },
        Taker("EventLoop: func forEach") { l, t in _ = l.forEach([1], token: t) { _ in l.succeeded() } },
        Taker("EventLoop: func observe") { l, t in l.observe(token: t) { _ in } },
        Taker("EventLoop: func poll") { l, t in
            _ = l.poll(every: .ticks(1), until: { $0 > 0 }, token: t) { l.succeeded(1) }
        },
        Taker("EventLoop: func retry") { l, t in _ = l.retry(token: t) { _ in l.succeeded(1) } },
        Taker("EventLoop: func sleep") { l, t in _ = l.sleep(for: .zero, token: t) },
        Taker("EventLoop: func submit") { l, t in _ = l.submit(token: t) {} },
        Taker("EventLoop: func traverse<") { l, t in _ = l.traverse([1], token: t) { l.succeeded($0) } },
        Taker("EventLoop: func traverseSettled") { l, t in
            _ = l.traverseSettled([1], token: t) { l.succeeded($0) }
        },
    ]

    private static let coordination: [Taker] = [
        Taker("FutureBarrier: func arrive") { l, t in _ = FutureBarrier(parties: 1, on: l).arrive(token: t) },
        Taker("FutureCache: func findOrFetch") { l, t in
            let cache = FutureCache<Int, Int>(on: l)
            cache.set(1, for: 1)
            _ = cache.findOrFetch(1, token: t) { l.never() }
        },
        Taker("FutureChannel: … func send") { l, t in FutureChannel<Int>(capacity: 1, on: l).send(1, token: t)
        },
        Taker("FutureChannel: static func receive") { l, t in
            _ = FutureChannel.receive(fromAny: [FutureChannel<Int>(capacity: 1, on: l)], on: l, token: t)
        },
        Taker("FutureChannel: func receive") { l, t in
            let channel = FutureChannel<Int>(capacity: 1, on: l)
            channel.send(1)
            _ = channel.receive(token: t)
        },
        Taker("FutureCondition: func wait(token: CancellationToken = .none)") { l, t in
            _ = FutureCondition(on: l).wait(token: t)
        },
        Taker("FutureCondition: func wait … until") { l, t in
            _ = FutureCondition(on: l).wait(token: t) { true }
        },
        Taker("FutureEvent: func wait") { l, t in _ = FutureEvent(on: l).wait(token: t) },
        Taker("FutureLatch: func wait") { l, t in _ = FutureLatch(count: 0, on: l).wait(token: t) },
        Taker("FutureMutex: func lock") { l, t in _ = FutureMutex(on: l).lock(token: t) },
        Taker("FutureMutex: func withLock") { l, t in
            _ = FutureMutex(on: l).withLock(token: t) { l.succeeded() }
        },
        Taker("FutureReadWriteLock: func read") { l, t in _ = FutureReadWriteLock(on: l).read(token: t) },
        Taker("FutureReadWriteLock: func write") { l, t in _ = FutureReadWriteLock(on: l).write(token: t) },
        Taker("FutureReadWriteLock: func withReading") { l, t in
            _ = FutureReadWriteLock(on: l).withReading(token: t) { l.succeeded() }
        },
        Taker("FutureReadWriteLock: func withWriting") { l, t in
            _ = FutureReadWriteLock(on: l).withWriting(token: t) { l.succeeded() }
        },
        Taker("FutureSemaphore: func acquire") { l, t in
            _ = FutureSemaphore(count: 1, on: l).acquire(token: t)
        },
        Taker("FutureSemaphore: func with") { l, t in
            _ = FutureSemaphore(count: 1, on: l).with(token: t) { l.succeeded() }
        },
        Taker("FutureTokenBucket: func take") { l, t in
            _ = FutureTokenBucket(rate: 1, burst: 1, on: l).take(token: t)
        },
    ]

    @Test(
        "a token of another loop traps where it is given", arguments: takers.indices.sampled, [false, true])
    func refused(index: Int, isCancelled: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index, isCancelled] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let source = CancellationSource(on: other)
            if isCancelled { source.cancel() }
            Self.takers[index].give(loop, source.token)
            withExtendedLifetime(source) {}
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let sentence =
            "A cancellation token of another event loop was given where a token of this loop is needed."
        #expect(printed.contains(sentence), "\(Self.takers[index].testDescription)")
    }
}
