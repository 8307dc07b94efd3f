import Futures
import FuturesTesting
import TestSupport
import Testing

/// Sizes that make no sense end the process with a sentence, in release too.
struct SizeMisuseTests {
    private static let sentences = [
        "The limit of operations at a time must be at least 1, not 0.",
        "The limit of operations at a time must be at least 1, not -1.",
        "A semaphore's count must be at least 1, not 0.",
        "A channel's capacity must be at least 0, not -1.",
        "A latch's count must be at least 0, not -1.",
        "A latch's number of steps must be at least 0, not -1.",
        "A barrier's number of parties must be at least 1, not 0.",
        "a cost of -1 is negative; give zero or more",
        "a delay of -1.0 seconds is negative; give zero or more",
        "A cache's cost limit must be at least 0, not -5.",
        "A cache's cost limit must be at least 0, not -1.",
        "A back-off's attempt number must be at least 1, not 0.",
        "A back-off is not usable: a jitter of 3.0 is out of range; give 0 to 1.",
        "a delay of -0.001 seconds is negative; give zero or more",
        "The limit of callbacks in an instant must be at least 1, not 0.",
        "The limit of operations at a time must be at least 1, not 0.",
        "A token bucket's rate must be at least 1, not 0.",
        "A token bucket's burst must be at least 1, not 0.",
        "A token bucket's period must be positive, not 0.0 seconds.",
        "a delay of -1e-09 seconds is negative; give zero or more",
        "a delay of -1e-09 seconds is negative; give zero or more",
        "time only moves forward.",
        "time only moves forward.",
        "A callback that blocks its loop cannot be found after 0.0 seconds; give more than zero.",
        "A turn's budget must be at least 1, not 0.",
    ]

    private static let unusable = Backoff.exponential(initial: .seconds(1), jitter: 3)

    @Test("a size or a limit that makes no sense", arguments: sentences.indices)
    func sizes(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            switch call {
            case 0: _ = FutureQueue(maxConcurrent: 0, on: loop)
            case 1: FutureQueue(on: loop).maxConcurrent = -1
            case 2: _ = FutureSemaphore(count: 0, on: loop)
            case 3: _ = FutureChannel<Int>(capacity: -1, on: loop)
            case 4: _ = FutureLatch(count: -1, on: loop)
            case 5: FutureLatch(count: 1, on: loop).countDown(by: -1)
            case 6: _ = FutureBarrier(parties: 0, on: loop)
            case 7: FutureCache<Int, Int>(on: loop).set(1, for: 1, cost: -1)
            case 8: FutureCache<Int, Int>(on: loop).set(1, for: 1, expiresAfter: .seconds(-1))
            case 9: _ = FutureCache<Int, Int>(costLimit: -5, on: loop)
            case 10: FutureCache<Int, Int>(on: loop).costLimit = -1
            case 11: _ = Backoff.exponential.delay(afterAttempt: 0, using: &loop.random)
            case 12: _ = Self.unusable.delay(afterAttempt: 1, using: &loop.random)
            case 13: loop.onSlowCallback(longerThan: .milliseconds(-1)) { _ in }
            case 14: _ = EventLoop.virtual(maxCallbacksPerInstant: 0)
            case 15: FutureQueue(on: loop).enqueueBatch(maxConcurrent: 0) { _ in 1 }
            case 16: _ = FutureTokenBucket(rate: 0, burst: 1, on: loop)
            case 17: _ = FutureTokenBucket(rate: 1, burst: 0, on: loop)
            case 18: _ = FutureTokenBucket(rate: 1, per: .zero, burst: 1, on: loop)
            case 19: _ = loop.debounce(for: .nanoseconds(-1)) {}
            case 20: _ = loop.throttle(every: .nanoseconds(-1)) {}
            case 21: loop.advance(by: .nanoseconds(-1))
            case 22: loop.advanceWithoutRunning(by: .seconds(Int64.min))
            case 23: loop.onBlockedLoop(longerThan: .zero) { _ in }
            default: loop.turnBudget = 0
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(Self.sentences[call]))
    }
}
