import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// What happens at a rate happens as often as the rate says, though a busy loop is late with each wake-up.
struct CadenceTests {
    enum Pacer: String, CaseIterable, Codable, CustomTestStringConvertible {
        case bucket, bucketOfMany, bucketWithBurst, fixedRate, ticks, tickFutures

        var testDescription: String { rawValue }

        /// Begins, and calls `body` at the rate.
        func start(rate: Int, on loop: EventLoop, _ body: @escaping () -> Void) {
            let interval = Duration.seconds(1) / rate
            func take(from bucket: FutureTokenBucket) {
                bucket.take().whenSuccess {
                    body()
                    take(from: bucket)
                }
            }
            switch self {
            case .bucket: take(from: FutureTokenBucket(rate: rate, burst: 1, on: loop))
            case .bucketOfMany:
                let bucket = FutureTokenBucket(rate: rate, burst: 1, on: loop)
                for _ in 0..<20 { take(from: bucket) }
            case .bucketWithBurst:
                let bucket = FutureTokenBucket(rate: rate, burst: 5, on: loop)
                _ = bucket.tryTake(5)
                take(from: bucket)
            case .fixedRate: loop.repeat(every: interval, pace: .fixedRate) { body() }
            case .ticks:
                Future(on: loop) { for try await _ in loop.ticks(every: interval) { body() } }.ignoreFailure()
            case .tickFutures:
                let ticks = loop.ticks(every: interval).makeAsyncIterator()
                loop.repeat(while: { true }) { ticks.pull().map { _ in body() } }.ignoreFailure()
            }
        }
    }

    @Test(
        "a rate is kept within two percent beside a busy loop", arguments: Pacer.allCases,
        [1, 10, 100, 500, 5_000, 20_000])
    func rate(pacer: Pacer, rate: Int) throws {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        var (generator, count) = (SeededGenerator(), 0)
        pacer.start(rate: rate, on: loop) { count += 1 }
        let time = Duration.milliseconds(isSoaking || rate < 100 ? 10_000 : rate < 1_000 ? 3_000 : 500)
        let start = loop.now
        // What is due waits for the system's timers, and for callbacks that take long.
        loop.repeat(every: .milliseconds(6)) { loop.advanceWithoutRunning(by: .milliseconds(2)) }
        while start.duration(to: loop.now) < time {
            loop.advanceWithoutRunning(by: .microseconds(Int.random(in: 1...3_000, using: &generator)))
            loop.advance(by: .zero)
        }
        let expected = Double(rate) * (start.duration(to: loop.now) / .seconds(1))
        #expect(abs(Double(count) - expected) < 0.02 * expected + 1.5, "\(count) instead of \(expected)")
    }

    @Test(
        "rates are kept by a real loop that spins for a third of the time", .enabled(if: isSoaking),
        .serialized, arguments: [1, 10, 100, 500, 5_000, 20_000])
    func realRate(rate: Int) throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        // While the machine gives the loop no time, nobody expects a rate.
        var (last, stalled, counts) = (loop.now, Duration.zero, [Pacer: Int]())
        loop.repeat(every: .milliseconds(6)) {
            let gap = last.duration(to: loop.now)
            if gap > .milliseconds(50) { stalled += gap }
            last = loop.now
            while last.duration(to: loop.now) < .milliseconds(2) {}
        }
        let start = loop.now
        for pacer in Pacer.allCases {
            pacer.start(rate: rate, on: loop) { counts[pacer, default: 0] += 1 }
        }
        try loop.run(until: loop.sleep(for: .seconds(10)))
        let elapsed = start.duration(to: loop.now) / .seconds(1)
        let lost = stalled / .seconds(1) + 0.02 * elapsed
        let bounds = (Double(rate) * (elapsed - lost) - 1.5)...(Double(rate) * 1.02 * elapsed + 1.5)
        for (pacer, count) in counts {
            #expect(bounds.contains(Double(count)), "\(pacer), stalled for \(stalled)")
        }
        #expect(counts.count == Pacer.allCases.count)
    }

    @Test("what a loop has been late with for more than 100 ms is not made up", arguments: Pacer.allCases)
    func stall(pacer: Pacer) {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        var count = 0
        pacer.start(rate: 1_000, on: loop) { count += 1 }
        loop.advance(by: .milliseconds(20))
        count = 0
        loop.advanceWithoutRunning(by: .milliseconds(400))
        loop.advance(by: .zero)
        #expect((100...106).contains(count))
        loop.advance(by: .milliseconds(100))
        #expect((199...206).contains(count))
    }

    @Test(
        "a run or a consumer that takes longer than the interval misses times, after a late wake-up as before"
    )
    func slow() throws {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        var counts = [0, 0]
        let interval = Duration.milliseconds(10)
        loop.repeat(every: interval, pace: .fixedRate) {
            counts[0] += 1
            return loop.sleep(for: .milliseconds(15))
        }
        Future(on: loop) {
            for try await _ in loop.ticks(every: interval) {
                counts[1] += 1
                try await loop.sleep(for: .milliseconds(15)).value
            }
        }.ignoreFailure()
        loop.advance(by: .seconds(1))
        #expect(counts == [50, 50])
        loop.advance(by: .milliseconds(6))
        loop.advanceWithoutRunning(by: .milliseconds(30))
        loop.advance(by: .seconds(1))
        #expect(counts.allSatisfy { (100...105).contains($0) }, "\(counts)")
    }

    /// A bucket of one token in a millisecond that has served a request 9 ms late.
    private func lateBucket(on loop: EventLoop) -> FutureTokenBucket {
        let bucket = FutureTokenBucket(rate: 1_000, burst: 1, on: loop)
        #expect(bucket.tryTake())
        let late = bucket.take()
        loop.advanceWithoutRunning(by: .milliseconds(10))
        loop.advance(by: .zero)
        #expect(late.isCompleted)
        return bucket
    }

    @Test("tokens that came while a request was served late are kept for as long as the bucket is in use")
    func kept() {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let bucket = lateBucket(on: loop)
        #expect(bucket.available == 1)
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 9)
        loop.advance(by: .milliseconds(150))
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 1)
    }

    @Test("tokens that came late are kept for a tenth of a second without a request, to the nanosecond")
    func keptUntil() {
        for (pause, count) in [(Duration.zero, 10), (.nanoseconds(1), 1)] {
            let loop = EventLoop.virtual()
            let bucket = lateBucket(on: loop)
            loop.advance(by: .milliseconds(92) + pause)
            #expect((0..<20).filter { _ in bucket.tryTake() }.count == count)
            loop.shutdown()
        }
    }

    @Test("requests that are served late together have all been late since the first was due")
    func together() {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let bucket = FutureTokenBucket(rate: 1_000, burst: 1, on: loop)
        #expect(bucket.tryTake())
        let waiting = (0..<2).map { _ in bucket.take() }
        loop.advanceWithoutRunning(by: .milliseconds(10))
        loop.advance(by: .zero)
        #expect(waiting.allSatisfy { $0.isCompleted })
        loop.advance(by: .milliseconds(50))
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 10)
    }

    @Test("a request served on time leaves no more tokens than the bucket holds, even after a late one")
    func onTime() {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let bucket = lateBucket(on: loop)
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 9)
        let next = bucket.take()
        loop.advance(by: .milliseconds(1))
        #expect(next.isCompleted)
        loop.advance(by: .milliseconds(50))
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 1)
    }

    @Test("a request that waited only behind another leaves no more tokens than the bucket holds")
    func behind() {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let bucket = FutureTokenBucket(rate: 1_000, burst: 10, on: loop)
        #expect(bucket.tryTake(10))
        let (large, small) = (bucket.take(10), bucket.take())
        loop.advance(by: .milliseconds(9))
        large.cancel()
        loop.advance(by: .zero)
        #expect(small.isCompleted)
        loop.advance(by: .milliseconds(9))
        #expect((0..<20).filter { _ in bucket.tryTake() }.count == 10)
    }

    @Test("a throttle keeps its distance after a late call, and so makes fewer calls, never more")
    func throttle() {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let start = loop.now
        var times: [Duration] = []
        let call = loop.throttle(every: .milliseconds(10)) { times.append(start.duration(to: loop.now)) }
        call()
        loop.advance(by: .zero)
        call()
        loop.advanceWithoutRunning(by: .milliseconds(15))
        loop.advance(by: .zero)
        call()
        loop.advance(by: .milliseconds(20))
        #expect(times == [0, 15, 25].map { .milliseconds($0) })
    }
}
