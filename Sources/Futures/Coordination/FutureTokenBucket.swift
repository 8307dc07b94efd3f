/// A token bucket, which limits how often something happens. The bucket holds at most `burst` tokens, and fills at a steady
/// rate. Requests get tokens in the order in which they were made.
///
/// A bucket begins full. So `burst` requests pass at once, and the others pass at the rate. If a request for many
/// tokens waits, later requests wait behind it. You can cancel a waiting request, or limit its time with
/// `Future.timeout`. When the bucket is released, all waiting requests fail with ``FutureError/closed(_:)``.
///
/// A busy loop may serve a waiting request late. The tokens that come in that time, for up to 100 ms, are not lost: so
/// the rate is right over a long time, and what passes right after such a delay can be more than ``burst``.
public final class FutureTokenBucket {
    /// The number of tokens that come in every ``period``, evenly.
    public let rate: Int
    public let period: Duration
    /// The number of tokens that the bucket holds when it is full.
    public let burst: Int
    private let line: WaitLine<Int>
    // Times are counted in parts of a nanosecond, `rate` of which make one. So no rate has to be rounded.
    private let cost: UInt128
    /// The time at which the bucket is full, unless more tokens are taken.
    private var fullAt: UInt128
    /// How long the bucket had been full when it last served a waiting request. The tokens that came in this time are
    /// kept.
    private var lateness: UInt128 = 0
    private var timer: ScheduledTask<Void>?

    /// Creates a full bucket that gets `rate` tokens in every `period`. Traps if `rate` or `burst` is less than one, or if
    /// `period` is not positive.
    public init(rate: Int, per period: Duration = .seconds(1), burst: Int, on loop: EventLoop) {
        if rate < 1 { Misuse.size(rate, of: "A token bucket's rate", atLeast: 1) }
        if burst < 1 { Misuse.size(burst, of: "A token bucket's burst", atLeast: 1) }
        guard let nanoseconds = period.wholeNanoseconds, nanoseconds > 0 else {
            Misuse.sentence("A token bucket's period must be positive, not \(period).")
        }
        self.rate = rate
        self.period = period
        self.burst = burst
        cost = UInt128(nanoseconds)
        fullAt = 0
        line = WaitLine(on: loop.core, name: "token bucket")
        line.onDeparture = { [unowned self] in serve() }
    }

    deinit { timer?.cancel() }

    public var loop: EventLoop { line.loop }

    /// The number of whole tokens in the bucket now.
    public var available: Int {
        line.loop.checkThread()
        let now = now
        return burst - Int((max(fullAt, now) - now + cost - 1) / cost)
    }

    /// The number of requests that wait for tokens.
    public var waitingCount: Int { line.count }

    /// Takes `count` tokens out of the bucket. Completes when all requests before this request have got their tokens, and
    /// `count` tokens have come. Until then, the request keeps ``EventLoop/run()`` from returning.
    ///
    /// If the returned future or `token` is cancelled while the request waits, no tokens are taken. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `count` is less than one or more than ``burst``.
    ///
    /// ```swift
    /// let bucket = FutureTokenBucket(rate: 100, burst: 20, on: loop)
    /// for name in names {
    ///     try await bucket.take().value
    ///     fetch(name).whenSuccess { print($0.count) }
    /// }
    /// ```
    public func take(_ count: Int = 1, token: CancellationToken = .none) -> Future<Void> {
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        guard (1...burst).contains(count) else {
            let complaint =
                "\(count) tokens were requested from a token bucket that holds \(burst); ask for 1 to \(burst)"
            return loop.failed(FutureError.invalidArgument(complaint))
        }
        if tryTake(count) { return loop.succeeded() }
        let future = line.wait(for: Void.self, count)
        serve()
        return future.until(token)
    }

    /// Takes `count` tokens now, and returns `true`. Returns `false`, and takes nothing, if the bucket has fewer
    /// tokens, or if a request waits.
    public func tryTake(_ count: Int = 1) -> Bool {
        line.loop.checkThread()
        guard line.isEmpty, count > 0, count <= burst, due(count) <= now else { return false }
        remove(count)
        return true
    }

    private var now: UInt128 { UInt128(line.loop.clock) * UInt128(rate) }
    private var longestLateness: UInt128 { UInt128(Cadence.longestLateness) * UInt128(rate) }

    /// The time at which the bucket has `count` tokens.
    private func due(_ count: Int) -> UInt128 {
        let missing = UInt128(burst - count) * cost
        return fullAt > missing ? fullAt - missing : 0
    }

    private func remove(_ count: Int) {
        let now = now
        if fullAt < now {
            // What has run over is lost, but for what the loop was late with.
            if now - fullAt > longestLateness { lateness = 0 }
            fullAt = max(fullAt, now - lateness)
        }
        fullAt += UInt128(count) * cost
    }

    /// Keeps the tokens that did not fit into the bucket while the loop was busy.
    private func noteLateness() {
        let now = now
        guard fullAt < now else { return }
        let excess = min(now - fullAt, longestLateness)
        lateness = max(lateness, excess)
        fullAt = now - excess
    }

    /// Serves the first requests as long as there are tokens for them, and then waits for more.
    private func serve() {
        timer.take()?.cancel()
        var isServing = false
        while let first = line.first {
            let due = due(first.payload)
            guard due <= now else { return wait(until: due) }
            _ = line.takeFirst()
            if !isServing {
                isServing = true
                lateness = 0
                // Just before the callbacks of those that are served, which may ask again.
                line.loop.enqueue { [weak self] in self?.noteLateness() }
            }
            noteLateness()
            remove(first.payload)
            first.succeed(())
        }
    }

    private func wait(until due: UInt128) {
        let nanoseconds = UInt64(clamping: (due + UInt128(rate) - 1) / UInt128(rate))
        timer = loop.schedule(at: LoopInstant(nanoseconds: nanoseconds)) { [unowned self] in
            timer = nil
            serve()
        }
    }
}

@available(
    *, unavailable, message: "A bucket belongs to its loop's thread; go there with loop.execute { … }."
)
extension FutureTokenBucket: Sendable {}
