import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// What belongs to a loop is used on its thread. Each verb says so.
struct ForeignThreadTests {
    final class Belongings {
        let loop: EventLoop
        let queue: FutureQueue<Void>
        let semaphore: FutureSemaphore
        let permit: Permit
        let channel: FutureChannel<Int>
        let event: FutureEvent
        let latch: FutureLatch
        let gate: FutureGate
        let lock: FutureReadWriteLock
        let readPermit: Permit?
        let cache: FutureCache<Int, Int>
        let bucket: FutureTokenBucket
        let condition: FutureCondition
        let flight: KeyedSingleFlight<Int, Int>
        let scope: FutureScope
        let paced: PacedCall<Int>
        let idle: PacedCall<Int>
        let promise: Promise<Int>
        var lockedIn: Promise<Int>?
        let taken: Future<Int>
        let pending: Future<Int>
        let source: CancellationSource
        let sequence: LoopSequence<LoopInstant>

        init(on loop: EventLoop) {
            self.loop = loop
            queue = FutureQueue(on: loop)
            semaphore = FutureSemaphore(count: 2, on: loop)
            permit = semaphore.tryAcquire()!
            channel = FutureChannel(capacity: 1, on: loop)
            event = FutureEvent(on: loop)
            latch = FutureLatch(count: 2, on: loop)
            lock = FutureReadWriteLock(on: loop)
            readPermit = try? lock.read().result?.get()
            gate = FutureGate(on: loop)
            cache = FutureCache(on: loop)
            bucket = FutureTokenBucket(rate: 1, burst: 1, on: loop)
            condition = FutureCondition(on: loop)
            flight = KeyedSingleFlight(on: loop)
            scope = FutureScope(on: loop)
            paced = loop.debounce(for: .seconds(1)) { _ in }
            paced(1)
            idle = loop.debounce(for: .seconds(1)) { _ in }
            promise = loop.makePromise()
            pending = promise.future
            lockedIn = loop.makePromise()
            taken = lockedIn!.future
            lockedIn?.complete(using: pending)
            source = CancellationSource(on: loop)
            sequence = loop.ticks(every: .seconds(1))
        }
    }

    static let verbs: [@Sendable (Belongings) throws -> Void] = [
        { _ = $0.semaphore.tryAcquire() },
        { end(holding: $0.semaphore.tryAcquire()) },
        { _ = $0.semaphore.acquire() },
        { $0.semaphore.break(CancellationError()) },
        { $0.permit.release() },
        { _ = $0.channel.send(1) },
        { _ = $0.channel.trySend(1) },
        { _ = $0.channel.receive() },
        { _ = $0.channel.tryReceive() },
        { _ = FutureChannel.receive(fromAny: [$0.channel], on: $0.loop) },
        { $0.channel.close() },
        { $0.channel.abort(with: CancellationError()) },
        { mine in _ = mine.queue.enqueue { mine.pending } },
        { $0.queue.maxConcurrent = 1 },
        { $0.queue.close() },
        { $0.queue.abort(with: CancellationError()) },
        { $0.event.set() },
        { $0.event.reset() },
        { _ = $0.event.wait() },
        { $0.latch.countDown() },
        { _ = $0.latch.wait() },
        { mine in _ = mine.lock.read(within: mine.readPermit!) },
        { mine in end(holding: mine.lock.read(within: mine.readPermit!)) },
        { _ = try $0.gate.enter() },
        { end(holding: try $0.gate.enter()) },
        { $0.gate.close() },
        { _ = $0.cache.value(for: 1) },
        { $0.cache.findOrFetch(1) { fatalError("the fetch has run") }.ignoreFailure() },
        { $0.cache.set(1, for: 1) },
        { $0.cache.remove(1) },
        { $0.cache.removeAll() },
        { _ = $0.bucket.available },
        { _ = $0.bucket.take() },
        { _ = $0.bucket.tryTake() },
        { _ = $0.condition.wait { fatalError("the predicate has run") } },
        { $0.condition.signal() },
        { $0.condition.broadcast() },
        { $0.condition.break(CancellationError()) },
        { mine in _ = mine.flight.perform(1) { mine.pending } },
        { $0.scope.add($0.pending) },
        { _ = $0.scope.run { 1 } },
        { $0.scope.drain(within: .zero) },
        { $0.scope.cancel() },
        { $0.paced(1) },
        { $0.paced.flush() },
        { $0.paced.cancel() },
        { $0.idle.cancel() },
        { $0.idle.flush() },
        { $0.source.cancel() },
        { _ = $0.source.isCancelled },
        { _ = $0.sequence.makeAsyncIterator() },
        { _ = $0.pending.isSuccess },
        { _ = Future.all([$0.pending]) },
        { _ = $0.pending.and($0.pending) },
        { end(holding: combine($0.pending, $0.pending)) },
        { $0.loop.forEach([1]) { _ -> Future<Int> in fatalError("the body has run") }.ignoreFailure() },
        {
            let all = Future.all([$0.pending])
            withExtendedLifetime(all) { exit(0) }
        },
        { _ = Deferred { () -> Future<Int> in fatalError("the work has begun") }.start(on: $0.loop) },
        {
            let source = CancellationSource(on: $0.loop)
            withExtendedLifetime(source) { exit(0) }
        },
        { _ = FutureQueue(on: $0.loop) },
        { _ = FutureSemaphore(count: 1, on: $0.loop) },
        { _ = FutureChannel<Int>(capacity: 1, on: $0.loop) },
        { _ = FutureEvent(on: $0.loop) },
        { _ = FutureLatch(count: 1, on: $0.loop) },
        { _ = FutureGate(on: $0.loop) },
        { _ = FutureCache<Int, Int>(on: $0.loop) },
        { _ = FutureTokenBucket(rate: 1, burst: 1, on: $0.loop) },
        { _ = FutureCondition(on: $0.loop) },
        { _ = SingleFlight<Int>(on: $0.loop) },
        { _ = KeyedSingleFlight<Int, Int>(on: $0.loop) },
        { _ = FutureScope(on: $0.loop) },
        { _ = CancellationSource(on: $0.loop) },
        { $0.loop.schedule(after: .zero) {} },
        { $0.loop.schedule(at: $0.loop.now) {} },
        { _ = $0.loop.sleep(for: .zero) },
        { _ = $0.loop.submit {} },
        { mine in _ = mine.loop.flatSubmit { mine.pending } },
        { _ = Future(on: $0.loop) { 1 } },
        { _ = $0.loop.debounce(for: .seconds(1)) {} },
        { $0.loop.onBlockedLoop { _ in } },
        { $0.loop.onSlowCallback { _ in } },
        { $0.loop.observe { _ in } },
        { $0.loop.measureBusyTime() },
        { $0.loop.onUnhandledFailure = nil },
        { $0.loop.isTraced = true },
        { $0.loop.turnBudget = 1 },
        { $0.loop.defaultContext = .loop },
        { _ = $0.loop.currentContext },
        { _ = $0.loop.statistics },
        { _ = $0.loop.snapshot() },
        { _ = $0.loop.random.next() },
        { _ = $0.loop.never(of: Int.self) },
        { end(holding: $0.loop.never(of: Int.self)) },
        { end(holding: $0.loop.succeeded(1)) },
        { end(holding: $0.loop.succeeded()) },
        { $0.loop.carries(Local.$id) },
        { _ = $0.loop.detach() },
        { $0.lockedIn = nil },
        {
            let promise = $0.loop.makePromise(of: Int.self)
            withExtendedLifetime(promise) { exit(0) }
        },
        {
            let completed = $0.loop.completed($0.pending)
            withExtendedLifetime(completed) { exit(0) }
        },
    ]

    @Test("a verb on another thread", arguments: verbs.indices)
    func elsewhere(verb: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [verb] in
            nonisolated(unsafe) let belongings = Belongings(on: EventLoop.virtual())
            try onThread { try unsafe Self.verbs[verb](belongings) }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains("used off its event loop's thread. Go there first, with loop.execute { … }."))
    }
}

private enum Local { @TaskLocal static var id: String? }

/// Ends the process well. So only the verb that gave `value` can trap, and not the release of the value.
private func end<Value>(holding value: Value) -> Never { withExtendedLifetime(value) { exit(0) } }
