import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Each number is checked where it is given. Those that a call cannot refuse by an error are in `SizeMisuseTests`.
struct NumbersTests {
    /// Runs `body` with a loop and with what makes a future that waits.
    private func with(_ body: (EventLoop, @escaping () -> Future<Void>) throws -> Void) rethrows {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        try body(loop) { loop.never(of: Void.self) }
    }

    /// `future`, when the closures that run at once have run.
    private func settled<Value>(_ future: Future<Value>) -> Future<Value> {
        future.loop.advance(by: .zero)
        return future
    }

    @Test("delays and time limits below zero are refused, and the longest are none")
    func delays() {
        with { loop, never in
            let cache = FutureCache<Int, Int>(on: loop)
            cache.set(1, for: 1)
            let disposer = Disposer {}
            let deferred = Deferred { never() }
            expectRefused("sleep", outside: Duration.zero...) { loop.sleep(for: $0) }
            expectRefused("schedule", outside: Duration.zero...) { loop.schedule(after: $0) {}.future }
            expectRefused("succeeded", outside: Duration.zero...) { loop.succeeded(1, after: $0) }
            expectRefused("completed", outside: Duration.zero...) { loop.completed(.success(1), after: $0) }
            expectRefused("delay", outside: Duration.zero...) { loop.succeeded().delay(by: $0) }
            expectRefused("delay in a closure", outside: Duration.zero...) { time in
                settled(loop.succeeded().delay { _ in time })
            }
            expectRefused("notBefore", outside: Duration.zero...) { loop.succeeded().notBefore($0) }
            expectRefused("timeout", outside: Duration.zero...) { never().timeout(after: $0) }
            expectRefused("timeout with a value", outside: Duration.zero...) {
                never().timeout(after: $0, with: .success(()))
            }
            expectRefused("whilePending", outside: Duration.zero...) {
                never().whilePending(delayBy: $0) { disposer }
            }
            expectRefused("dispose", outside: Duration.zero...) {
                disposer.dispose(after: $0, on: loop).future
            }
            expectRefused("execute", outside: Duration.zero...) {
                RemoteContext.pool.execute(after: $0, on: loop) {}.future
            }
            expectRefused("findOrFetch", outside: Duration.zero...) {
                cache.findOrFetch(2, expiresAfter: $0) { never().map { 1 } }
            }
            expectRefused("findOrFetch of what is there", outside: Duration.zero...) {
                cache.findOrFetch(1, expiresAfter: $0) { never().map { 1 } }
            }
            expectRefused("onErrorRepeat", outside: Duration.zero...) {
                deferred.onErrorRepeat(delay: $0).start(on: loop)
            }
            expectRefused("onResultRepeat", outside: Duration.zero...) {
                deferred.onResultRepeat(delay: $0).start(on: loop)
            }
            expectRefused("repeatAndCollect", outside: Duration.zero...) {
                deferred.repeatAndCollect(repetitions: 1, delay: $0).start(on: loop)
            }
            expectRefused("the first delay of repeat", outside: Duration.zero...) {
                loop.repeat(every: .seconds(1), after: $0) {}.future
            }
        }
    }

    @Test("intervals have to be positive, and may be longer than time lasts")
    func intervals() {
        with { loop, never in
            let positive = Duration.nanoseconds(1)...
            for pace in [RepeatPace.fixedDelay, .fixedRate] {
                expectRefused("repeat", outside: positive) { loop.repeat(every: $0, pace: pace) {}.future }
            }
            expectRefused("repeat of a context", outside: positive) {
                RemoteContext.pool.repeat(every: $0, on: loop) {}.future
            }
            expectRefused("ticks", outside: positive) { settled(loop.ticks(every: $0).first()) }
            expectRefused("poll", outside: positive) { loop.poll(every: $0, until: { true }, never) }
        }
    }

    @Test("fractions and factors are finite and in their range")
    func fractions() {
        with { loop, never in
            expectRefused("the jitter of repeat", outside: 0.0...1.0) {
                loop.repeat(every: .seconds(1), jitter: $0) {}.future
            }
            func retry(_ change: (inout Backoff) -> Void) -> Future<Void> {
                var backoff = Backoff.exponential
                change(&backoff)
                return loop.retry(backoff: backoff) { _ in never() }
            }
            expectRefused("jitter", outside: 0.0...1.0) { jitter in retry { $0.jitter = jitter } }
            expectRefused("factor", outside: 1.0...Double.greatestFiniteMagnitude) { factor in
                retry { $0.factor = factor }
            }
            expectRefused("initial", outside: Duration.zero...) { time in retry { $0.initial = time } }
            expectRefused("maximum", outside: Duration.zero...) { time in retry { $0.maximum = time } }
        }
    }

    @Test("counts and limits are in their range, and the largest stand for no limit")
    func counts() throws {
        try with { loop, never in
            let deferred = Deferred { never() }
            let limited = try RemoteContext.limited(maxConcurrent: 1, on: .pool)
            let semaphore = FutureSemaphore(count: 2, on: loop)
            let bucket = FutureTokenBucket(rate: 1, burst: 2, on: loop)
            expectRefused("forEach", outside: 1...) { loop.forEach([1], maxConcurrent: $0) { _ in never() } }
            expectRefused("traverse", outside: 1...) {
                loop.traverse([1], maxConcurrent: $0) { _ in never() }
            }
            expectRefused("traverseSettled", outside: 1...) {
                loop.traverseSettled([1], maxConcurrent: $0) { _ in never() }
            }
            expectRefused("mapFuture", outside: 1...) { limit in
                settled(
                    loop.ticks(every: .seconds(1)).mapFuture(maxConcurrent: limit) { _ in never() }.first())
            }
            expectRefused("retry", outside: 1...) { loop.retry(attempts: $0) { _ in never() } }
            expectRefused("limited", outside: 1...) {
                try RemoteContext.limited(maxConcurrent: $0, on: .pool)
            }
            expectRefused("setLimit", outside: 1...) { try limited.setLimit($0) }
            expectRefused("repeat", outside: 0...) { loop.repeat(times: $0) { _ in never() } }
            expectRefused("onErrorRepeat", outside: 0...) {
                deferred.onErrorRepeat(maxRepetitions: $0).start(on: loop)
            }
            expectRefused("onResultRepeat", outside: 0...) {
                deferred.onResultRepeat(maxRepetitions: $0).start(on: loop)
            }
            expectRefused("repeatAndCollect", outside: 0...) {
                deferred.repeatAndCollect(repetitions: $0).start(on: loop)
            }
            expectRefused("firstCompleted", outside: 0...2) {
                Future.firstCompleted($0, of: [never(), never()], on: loop)
            }
            expectRefused("with of a semaphore", outside: 1...2) { semaphore.with($0) { never() } }
            expectRefused("take of a bucket", outside: 1...2) { bucket.take($0) }
            #expect(Int.edges.allSatisfy { $0 == 1 || $0 == 2 || semaphore.tryAcquire($0) == nil })
            #expect(Int.edges.allSatisfy { $0 == 1 || $0 == 2 || !bucket.tryTake($0) })
        }
    }

    @Test("the largest sizes are taken, and lead to no overflow")
    func largest() throws {
        with { loop, never in
            let queue = FutureQueue(maxConcurrent: .max, on: loop)
            for priority in [Int.min, .max] { queue.enqueue(priority: priority) { 1 } }
            let semaphore = FutureSemaphore(count: .max, on: loop)
            let permit = semaphore.tryAcquire(.max)
            #expect(permit?.count == .max && semaphore.available == 0)
            #expect(FutureChannel<Int>(capacity: .max, on: loop).trySend(1))
            let latch = FutureLatch(count: .max, on: loop)
            latch.countDown(by: .max)
            #expect(latch.count == 0)
            let barrier = FutureBarrier(parties: .max, on: loop)
            #expect(!barrier.arrive().ignoreFailure().isCompleted)
            let cache = FutureCache<Int, Int>(costLimit: .max, on: loop)
            for key in 1...2 { cache.set(key, for: key, expiresAfter: .seconds(Int64.max), cost: .max) }
            #expect(cache.totalCost == .max && cache.value(for: 2) == 2)
            loop.turnBudget = .max
            let forever = Duration.seconds(Int64.max)
            for (rate, period) in [(Int.max, Duration.nanoseconds(1)), (.max, forever), (1, forever)] {
                let bucket = FutureTokenBucket(rate: rate, per: period, burst: .max, on: loop)
                #expect(bucket.available == .max && bucket.tryTake(.max) && bucket.available == 0)
                let waiting = bucket.take(.max)
                loop.advance(by: .seconds(1))
                loop.advanceWithoutRunning(by: .seconds(1))
                loop.advance(by: .zero)
                #expect(waiting.isCompleted == (period == .nanoseconds(1)))
                waiting.cancel()
            }
            loop.onSlowCallback(longerThan: .seconds(Int64.max)) { _ in }
            for time in Duration.edges { _ = loop.now.advanced(by: time).duration(to: loop.now) }
            for tolerance in Duration.edges {
                let slept = Future(on: loop) {
                    try await LoopClock(on: loop).sleep(until: loop.now, tolerance: tolerance)
                }
                loop.advance(by: .zero)
                #expect(slept.isCompleted)
            }
            loop.debounce(for: .seconds(Int64.max)) {}()
            let throttled = loop.throttle(every: .seconds(Int64.max)) {}
            for _ in 0..<2 { throttled() }
            loop.advance(by: .seconds(1))
        }
    }
}
