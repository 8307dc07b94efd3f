import Futures
import FuturesTesting
import Testing

struct FutureTokenBucketTests {
    @Test("a full bucket lets a burst pass, and then one request after the other at its rate")
    func rate() throws {
        try withLoop(.virtual) { loop in
            let bucket = FutureTokenBucket(rate: 10, burst: 3, on: loop)
            let start = loop.now
            var times: [Duration] = []
            for _ in 0..<6 { bucket.take().whenSuccess { times.append(start.duration(to: loop.now)) } }
            #expect(bucket.waitingCount == 3 && bucket.available == 0)
            loop.advance(by: .milliseconds(299))
            #expect(times == [0, 0, 0, 100, 200].map { .milliseconds($0) })
            loop.advance(by: .milliseconds(1))
            #expect(times.last == .milliseconds(300) && times.count == 6)
        }
    }

    @Test("no rate is rounded, so that a long run has exactly its number of tokens")
    func exact() throws {
        try withLoop(.virtual) { loop in
            for (rate, period) in [
                (3, Duration.seconds(1)), (7, .milliseconds(10)), (1_000_000, .seconds(1)),
            ] {
                let bucket = FutureTokenBucket(rate: rate, per: period, burst: rate, on: loop)
                #expect(bucket.tryTake(rate))
                for round in 1...3 {
                    loop.advance(by: period - .nanoseconds(1))
                    #expect(bucket.available == rate - 1 && !bucket.tryTake(rate), "\(rate), \(round)")
                    loop.advance(by: .nanoseconds(1))
                    #expect(bucket.available == rate && bucket.tryTake(rate), "\(rate), \(round)")
                }
            }
        }
    }

    @Test("a token is there at its nanosecond, not before, and of a period of one nanosecond at each")
    func nanoseconds() throws {
        try withLoop(.virtual) { loop in
            loop.advance(by: .milliseconds(1))
            let bucket = FutureTokenBucket(rate: 1, burst: 2, on: loop)
            #expect(bucket.available == 2 && bucket.tryTake(2))
            loop.advance(by: .seconds(2) - .nanoseconds(1))
            #expect(bucket.available == 1)
            loop.advance(by: .nanoseconds(1))
            #expect(bucket.available == 2)
            let fast = FutureTokenBucket(rate: 1, per: .nanoseconds(1), burst: 3, on: loop)
            #expect(fast.tryTake(3) && fast.available == 0)
            loop.advance(by: .nanoseconds(2))
            #expect(fast.available == 2)
            let third = FutureTokenBucket(rate: 3, burst: 1, on: loop)
            #expect(third.tryTake())
            let next = third.take()
            loop.advance(by: .nanoseconds(333_333_333))
            #expect(!next.isCompleted)
            loop.advance(by: .nanoseconds(1))
            #expect(next.isCompleted)
            let slow = FutureTokenBucket(rate: 1, burst: 1, on: loop)
            #expect(slow.tryTake())
            let onTime = slow.take()
            loop.advance(by: .seconds(1))
            #expect(onTime.isCompleted)
            loop.advance(by: .seconds(1) + .milliseconds(50))
            #expect(slow.tryTake())
            loop.advance(by: .seconds(1) - .nanoseconds(1))
            #expect(slow.available == 0)
        }
    }

    @Test("a bucket has one timer, however many wait, and none when nobody does")
    func timers() throws {
        try withLoop(.virtual) { loop in
            let bucket = FutureTokenBucket(rate: 1, burst: 1, on: loop)
            #expect(bucket.tryTake())
            let waiting = (0..<3).map { _ in bucket.take() }
            #expect(loop.statistics.timers == 1)
            for future in waiting { future.cancel() }
            #expect(loop.statistics.timers == 0 && bucket.waitingCount == 0)
        }
    }

    @Test("tokens that nobody takes run over", arguments: Driver.allCases)
    func overflow(driver: Driver) throws {
        try withLoop(driver) { loop in
            let bucket = FutureTokenBucket(rate: 1_000, burst: 2, on: loop)
            try pass(.milliseconds(20), on: loop)
            #expect(bucket.available == 2 && bucket.tryTake(2) && !bucket.tryTake(2))
        }
    }

    @Test("who asks for many is not overtaken, and who leaves lets the others move up")
    func order() throws {
        try withLoop(.virtual) { loop in
            let bucket = FutureTokenBucket(rate: 1, burst: 5, on: loop)
            #expect(bucket.tryTake(5))
            let many = bucket.take(4)
            let (first, second) = (bucket.take(), bucket.take())
            #expect(!bucket.tryTake())
            loop.advance(by: .seconds(1))
            #expect(!first.isCompleted && !bucket.tryTake())
            #expect(many.cancel())
            #expect(first.isCompleted && !second.isCompleted)
            second.cancel()
            #expect(bucket.waitingCount == 0 && bucket.available == 0)
            loop.advance(by: .seconds(2))
            #expect(bucket.available == 2)
        }
    }

    @Test("a token of cancellation takes a request out of the line")
    func token() throws {
        try withLoop(.virtual) { loop in
            let bucket = FutureTokenBucket(rate: 1, burst: 1, on: loop)
            let source = CancellationSource(on: loop)
            #expect(bucket.tryTake())
            let waiting = bucket.take(token: source.token)
            source.cancel()
            #expect(waiting.isCompleted && bucket.waitingCount == 0)
            #expect(bucket.take(token: source.token).isCompleted)
            loop.advance(by: .seconds(1))
            #expect(bucket.available == 1)
        }
    }

    @Test("requests that no bucket could serve are refused, and a bucket that is released fails the others")
    func refused() throws {
        try withLoop(.virtual) { loop in
            var bucket: FutureTokenBucket? = FutureTokenBucket(rate: 1, burst: 5, on: loop)
            for count in [0, -1, 6] {
                let text = "\(count) tokens were requested from a token bucket that holds 5; ask for 1 to 5"
                #expect(
                    bucket?.take(count).ignoreFailure().result?.failure as? FutureError
                        == .invalidArgument(text))
                #expect(bucket?.tryTake(count) == false)
            }
            #expect(bucket?.tryTake(5) == true)
            let waiting = bucket!.take().ignoreFailure()
            bucket = nil
            #expect(waiting.result?.failure as? FutureError == .closed("token bucket"))
            loop.advance(by: .seconds(10))
        }
    }

    @Test("arguments that make no sense trap with a sentence", arguments: ["rate", "burst", "period"])
    func traps(what: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [what] in
            let (rate, burst) = (what == "rate" ? 0 : 1, what == "burst" ? 0 : 1)
            _ = FutureTokenBucket(
                rate: rate, per: what == "period" ? .zero : .seconds(1), burst: burst, on: .virtual())
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("A token bucket's \(what) must be "))
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
