import Futures
import FuturesTesting
import TestSupport
import Testing

struct RepetitionTests {
    /// Work that counts its runs and ends as `outcome` says of the run's number, from 1.
    private final class Work {
        var runs = 0
        var maps = 0

        func deferred(on loop: EventLoop, _ outcome: @escaping (Int) throws -> Int) -> Deferred<Int> {
            Deferred { [self] in
                runs += 1
                let run = runs
                return loop.submit { try outcome(run) }
            }.transform { future in
                future.tap { _ in }.mapError { [self] error in
                    maps += 1
                    return error
                }
            }
        }
    }

    @Test(
        "the maps above are run again with each repetition, as long as somebody says so",
        arguments: Driver.allCases)
    func asks(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            var asked: [Failure] = []
            func ask(_ error: any Error) -> Future<Bool> {
                asked.append(error as! Failure)
                return loop.submit { asked.count < 3 }
            }
            let data = work.deferred(on: loop) { throw Failure($0) }
            expect(data.onErrorRepeat { error in ask(error) }.start(on: loop), failsWith: Failure(3))
            #expect(work.runs == 3 && work.maps == 3)
            #expect(asked == [Failure(1), Failure(2), Failure(3)])
        }
    }

    @Test("a repetition with a success ends there", arguments: Driver.allCases)
    func succeeds(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            let data = work.deferred(on: loop) { run in
                if run < 3 { throw Failure(run) }
                return run
            }
            try expect(data.onErrorRepeat(delay: .zero).start(on: loop), succeedsWith: 3)
            work.runs = 0
            try expect(
                data.retry(attempts: 3, backoff: .constant(.ticks(1))).start(on: loop), succeedsWith: 3)
            work.runs = 0
            expect(data.retry(attempts: 2, backoff: .constant(.zero)).start(on: loop), failsWith: Failure(2))
        }
    }

    @Test("without a predicate, a repetition follows each outcome, and three attempts are made")
    func defaults() throws {
        try withLoop(.virtual) { loop in
            let work = Work()
            let failing = work.deferred(on: loop) { throw Failure($0) }
            expect(failing.onErrorRepeat(maxRepetitions: 3).start(on: loop), failsWith: Failure(4))
            work.runs = 0
            expect(failing.retry().start(on: loop), failsWith: Failure(3))
            work.runs = 0
            let counting = work.deferred(on: loop) { $0 }
            try expect(counting.onResultRepeat(maxRepetitions: 3).start(on: loop), succeedsWith: 4)
        }
    }

    @Test("n repetitions are n + 1 runs, with the delay before each, and end with the last error")
    func maxRepetitions() throws {
        try withLoop(.virtual) { loop in
            let work = Work()
            let start = loop.now
            let data = work.deferred(on: loop) { throw Failure($0) }
            let repeated = data.onErrorRepeat(delay: .milliseconds(500), maxRepetitions: 3)
            expect(repeated.start(on: loop), failsWith: Failure(4))
            #expect(work.runs == 4)
            #expect(start.duration(to: loop.now) == .milliseconds(1500))
            expect(data.onErrorRepeat(maxRepetitions: 0).start(on: loop), failsWith: Failure(5))
        }
    }

    @Test(
        "a predicate that says no, fails, is cancelled or throws leaves the outcome as it was",
        arguments: Driver.allCases)
    func original(driver: Driver) throws {
        try withLoop(driver) { loop in
            let answers: [() throws -> Future<Bool>] = [
                { loop.submit { false } }, { loop.failed(Failure(99)) }, { loop.failed(CancellationError()) },
                { throw Failure(99) },
            ]
            for answer in answers {
                let work = Work()
                let data = work.deferred(on: loop) { throw Failure($0) }
                expect(data.onErrorRepeat { _ in try answer() }.start(on: loop), failsWith: Failure(1))
                expect(data.onResultRepeat { _ in try answer() }.start(on: loop), failsWith: Failure(2))
                let good = work.deferred(on: loop) { $0 }
                try expect(good.onResultRepeat { _ in try answer() }.start(on: loop), succeedsWith: 3)
            }
        }
    }

    @Test(
        "predicates of several statements say Bool or Future<Bool> without more ado",
        arguments: Driver.allCases)
    func predicates(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            let data = work.deferred(on: loop) { $0 }
            var left = 2
            let now = data.onResultRepeat { result in
                left -= 1
                guard case .success = result else { return false }
                return left > 0
            }
            try expect(now.start(on: loop), succeedsWith: 2)
            let later = data.onResultRepeat(delay: .zero, maxRepetitions: 9) { result in
                let value = try? result.get()
                return loop.submit { value != 5 }
            }
            try expect(later.start(on: loop), succeedsWith: 5)
            let failing = work.deferred(on: loop) { throw Failure($0) }
            let ended = failing.onErrorRepeat { error in
                let failure = error as? Failure
                return failure != Failure(7)
            }
            expect(ended.start(on: loop), failsWith: Failure(7))
        }
    }

    @Test(
        "the predicate is not called after a cancel, nor for a run that is cancelled",
        arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            func refuse<Outcome>(_: Outcome) -> Bool {
                Issue.record("the predicate was called")
                return true
            }
            let run = loop.makePromise(of: Int.self)
            let running = Deferred { run.future }.onResultRepeat(when: refuse).start(on: loop)
            #expect(running.cancel())
            #expect("\(run.future)" == "Future(cancelled)")
            let cancelled = Deferred<Int>.completed(.failure(CancellationError()))
            expectCancelled(cancelled.onResultRepeat(when: refuse).start(on: loop))
            expectCancelled(cancelled.onErrorRepeat(when: refuse).start(on: loop))

            let work = Work()
            var asked = 0
            let waiting = work.deferred(on: loop) { throw Failure($0) }.onErrorRepeat(delay: .seconds(100)) {
                _ in
                asked += 1
                return true
            }.start(on: loop)
            try settle(loop)
            #expect(loop.statistics.timers == 1)
            #expect(waiting.cancel())
            #expect(loop.statistics.timers == 0 && asked == 1 && work.runs == 1)
            let question = loop.makePromise(of: Bool.self)
            let asking = work.deferred(on: loop) { $0 }.onResultRepeat { _ in question.future }.start(
                on: loop)
            try settle(loop)
            #expect(asking.cancel())
            #expect("\(question.future)" == "Future(cancelled)")
        }
    }

    @Test("without a delay the next run follows at once, with a delay of zero after what is ready")
    func order() throws {
        try withLoop(.virtual) { loop in
            func order(delay: Duration?) throws -> [String] {
                let seen = Record()
                var runs = 0
                let work = Deferred {
                    runs += 1
                    seen.add("run \(runs)")
                    if runs == 1 { loop.sleep(for: .zero).whenComplete { _ in seen.add("timer") } }
                    return loop.succeeded(runs)
                }
                try expect(
                    work.onResultRepeat(delay: delay, maxRepetitions: 1).start(on: loop), succeedsWith: 2)
                return seen.entries
            }
            let (atOnce, deferred) = (try order(delay: nil), try order(delay: .zero))
            #expect(atOnce.prefix(2) == ["run 1", "run 2"])
            #expect(deferred == ["run 1", "timer", "run 2"])
        }
    }

    @Test("very many repetitions take constant memory and stack", arguments: Driver.allCases, [false, true])
    func memory(driver: Driver, asking: Bool) throws {
        try onSmallStack(driver) { loop in
            let count = largeCount
            var (runs, peak) = (0, 0)
            let work = Deferred {
                runs += 1
                peak = max(peak, loop.statistics.futures)
                return loop.succeeded(runs)
            }
            let repeated =
                asking
                ? work.onResultRepeat(maxRepetitions: count) { _ in loop.succeeded(true) }
                : work.onResultRepeat(maxRepetitions: count)
            try expect(repeated.start(on: loop), succeedsWith: count + 1)
            #expect(peak < 25)
        }
    }

    @Test("repeat and collect gives the values of count + 1 runs, and nests", arguments: Driver.allCases)
    func collect(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            let data = work.deferred(on: loop) { $0 }
            try expect(
                data.repeatAndCollect(repetitions: 1).repeatAndCollect(repetitions: 1, delay: .zero).start(
                    on: loop),
                succeedsWith: [[1, 2], [3, 4]])
            try expect(data.repeatAndCollect(repetitions: 0).start(on: loop), succeedsWith: [5])
            let failing = work.deferred(on: loop) { if $0 == 7 { throw Failure($0) } else { $0 } }
            expect(failing.repeatAndCollect(repetitions: 3).start(on: loop), failsWith: Failure(7))
            #expect(work.runs == 7)
        }
    }

    @Test("collecting waits for the delay between two runs, and can be cancelled then")
    func collectDelay() throws {
        try withLoop(.virtual) { loop in
            let work = Work()
            let start = loop.now
            let collect = work.deferred(on: loop) { $0 }.repeatAndCollect(repetitions: 2, delay: .seconds(1))
            try expect(collect.start(on: loop), succeedsWith: [1, 2, 3])
            #expect(start.duration(to: loop.now) == .seconds(2))
            let waiting = collect.start(on: loop)
            try settle(loop)
            #expect(waiting.cancel())
            #expect(loop.statistics.timers == 0 && work.runs == 4)
        }
    }

    @Test("a repetition of a repetition starts the inner count anew", arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            let nested = work.deferred(on: loop) { throw Failure($0) }
                .onErrorRepeat(maxRepetitions: 2).onErrorRepeat(maxRepetitions: 1)
            expect(nested.start(on: loop), failsWith: Failure(6))
        }
    }

    @Test("negative counts and delays are refused, and nothing runs", arguments: Driver.allCases)
    func invalid(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Work()
            let data = work.deferred(on: loop) { $0 }
            let count = FutureError.invalidArgument("the number of repetitions must be at least 0, not -1")
            let delay = FutureError.invalidArgument("a delay of -1.0 seconds is negative; give zero or more")
            expect(data.onErrorRepeat(maxRepetitions: -1).start(on: loop), failsWith: count)
            expect(data.onResultRepeat(delay: .seconds(-1)).start(on: loop), failsWith: delay)
            expect(data.repeatAndCollect(repetitions: -1).start(on: loop), failsWith: count)
            expect(
                data.repeatAndCollect(repetitions: 1, delay: .seconds(-1)).start(on: loop), failsWith: delay)
            #expect(work.runs == 0)
        }
    }

    @Test("an endless repetition ends when its loop is shut down", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            Deferred { loop.succeeded(1) }.onResultRepeat().start(on: loop).whenComplete { seen.add($0) }
            loop.shutdown()
            #expect(seen.entries == ["failed: \(FutureError.shutDown)"])
        }
    }
}
