import Futures
import FuturesTesting
import Testing

struct PollTests {
    @Test("a poll asks at once, then after each interval, until the value fits")
    func polls() throws {
        try withLoop(.virtual) { loop in
            var times: [Double] = []
            let start = loop.now
            let future = loop.poll(every: .seconds(2), until: { $0 == 3 }) {
                times.append(start.duration(to: loop.now) / .seconds(1))
                return loop.sleep(for: .seconds(1)).map { times.count }
            }
            try expect(future, succeedsWith: 3)
            #expect(times == [0, 3, 6])
        }
    }

    @Test("a poll ends with a failure, or what a closure throws", arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        try withLoop(driver) { loop in
            func poll(_ body: @escaping () throws -> Future<Int>) -> Future<Int> {
                loop.poll(every: .ticks(1), until: { if $0 < 0 { throw Failure($0) } else { false } }, body)
            }
            expect(poll { throw Failure(1) }, failsWith: Failure(1))
            expect(poll { loop.failed(Failure(2)) }, failsWith: Failure(2))
            expect(poll { loop.succeeded(-3) }, failsWith: Failure(-3))
            expectCancelled(poll { loop.failed(CancellationError()) })
        }
    }

    @Test(
        "cancelling a poll stops its timer or its run, and a time limit ends it", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            func poll() -> Future<Int> {
                loop.poll(every: .seconds(100), until: { _ in false }) {
                    runs += 1
                    return loop.succeeded(runs)
                }
            }
            let waiting = poll()
            try settle(loop)
            #expect(loop.statistics.timers == 1)
            #expect(waiting.cancel())
            #expect(loop.statistics.timers == 0)
            expect(poll().timeout(after: .ticks(1)), failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(runs == 2 && loop.statistics.timers == 0)
            let run = loop.makePromise(of: Int.self)
            #expect(loop.poll(every: .seconds(1), until: { _ in true }) { run.future }.cancel())
            #expect("\(run.future)" == "Future(cancelled)")
        }
    }

    @Test("the interval of a poll has to be positive", arguments: Driver.allCases)
    func interval(driver: Driver) throws {
        try withLoop(driver) { loop in
            expect(
                loop.poll(every: .zero, until: { _ in true }) { loop.succeeded(1) },
                failsWith: FutureError.invalidArgument(
                    "an interval of 0.0 seconds is not positive; give more than zero"))
        }
    }

    @Test("very many polls run in constant memory")
    func memory() throws {
        try withLoop(.virtual) { loop in
            var (runs, peak) = (0, 0)
            let future = loop.poll(every: .seconds(1), until: { $0 == 10_000 }) {
                runs += 1
                peak = max(peak, loop.statistics.futures)
                return loop.succeeded(runs)
            }
            try expect(future, succeedsWith: 10_000)
            #expect(peak < 20)
        }
    }
}
