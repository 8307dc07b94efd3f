import Futures
import FuturesTesting
import Testing

struct RepeatTests {
    @Test(
        "a repetition runs once per interval, never early, until it is cancelled", arguments: Driver.allCases,
        [RepeatPace.fixedDelay, .fixedRate])
    func runs(driver: Driver, pace: RepeatPace) throws {
        try withLoop(driver) { loop in
            let start = loop.now
            var runs: [Duration] = []
            let task = loop.repeat(every: .ticks(1), pace: pace) {
                runs.append(start.duration(to: loop.now))
            }
            while runs.count < 5 { try pass(.ticks(1), on: loop) }
            #expect(task.cancel())
            let count = runs.count
            try pass(.ticks(3), on: loop)
            #expect(runs.count == count)
            for (index, time) in runs.enumerated() { #expect(time >= .ticks(1 + index)) }
            #expect("\(task.future)" == "Future(cancelled)")
            #expect(!task.cancel())
        }
    }

    @Test("a fixed delay counts from the end of a run, a fixed rate from start to start")
    func pace() throws {
        try withLoop(.virtual) { loop in
            func starts(_ pace: RepeatPace, lasting duration: Duration) -> [Double] {
                let start = loop.now
                var starts: [Double] = []
                let task = loop.repeat(every: .seconds(1), pace: pace) {
                    starts.append(start.duration(to: loop.now) / .seconds(1))
                    return loop.sleep(for: duration)
                }
                loop.advance(by: .seconds(8))
                task.cancel()
                return starts
            }
            #expect(starts(.fixedDelay, lasting: .milliseconds(500)) == [1, 2.5, 4, 5.5, 7])
            #expect(starts(.fixedDelay, lasting: .milliseconds(1_500)) == [1, 3.5, 6])
            #expect(starts(.fixedRate, lasting: .milliseconds(500)) == [1, 2, 3, 4, 5, 6, 7, 8])
            #expect(starts(.fixedRate, lasting: .seconds(1)) == [1, 3, 5, 7])
            #expect(starts(.fixedRate, lasting: .milliseconds(1_500)) == [1, 3, 5, 7])
            #expect(starts(.fixedRate, lasting: .milliseconds(2_500)) == [1, 4, 7])
        }
    }

    @Test(
        "the first run starts after the initial delay, which may be zero",
        arguments: [RepeatPace.fixedDelay, .fixedRate])
    func initialDelay(pace: RepeatPace) throws {
        try withLoop(.virtual) { loop in
            for delay in [0, 250, 5_000] {
                let start = loop.now
                var starts: [Duration] = []
                let task = loop.repeat(every: .seconds(1), after: .milliseconds(delay), pace: pace) {
                    starts.append(start.duration(to: loop.now))
                }
                #expect(starts.isEmpty)
                loop.advance(by: .milliseconds(delay + 2_500))
                #expect(starts == [0, 1_000, 2_000].map { .milliseconds(delay + $0) })
                task.cancel()
            }
            for (task, text) in [
                (loop.repeat(every: .seconds(1), after: .seconds(-1)) {}, "-1.0 seconds"),
                (
                    loop.repeat(every: .seconds(1), jitter: 1.5) {},
                    "a jitter of 1.5 is out of range; give 0 to 1"
                ),
                (
                    loop.repeat(every: .seconds(1), jitter: .nan) {},
                    "a jitter of nan is out of range; give 0 to 1"
                ),
            ] {
                guard
                    case .failure(FutureError.invalidArgument(let found))? = task.future.ignoreFailure()
                        .result
                else {
                    Issue.record("\(task.future)")
                    continue
                }
                #expect(found.contains(text))
            }
        }
    }

    @Test("a jitter delays each run, by at most its fraction, and a fixed rate does not drift")
    func jitter() throws {
        try withLoop(.virtual) { loop in
            for pace in [RepeatPace.fixedDelay, .fixedRate] {
                let start = loop.now
                var starts: [Double] = []
                let task = loop.repeat(every: .seconds(1), jitter: 0.5, pace: pace) {
                    starts.append(start.duration(to: loop.now) / .seconds(1))
                }
                loop.advance(by: .seconds(1_000))
                task.cancel()
                let phases = starts.enumerated().map { $1 - Double($0 + 1) }
                if pace == .fixedRate {
                    #expect(
                        phases.allSatisfy { (0...0.5).contains($0) } && (999...1_000).contains(starts.count))
                    #expect(phases.min()! < 0.05 && phases.max()! > 0.45)
                } else {
                    let waits = zip(starts.dropFirst(), starts).map { $0 - $1 }
                    #expect(waits.allSatisfy { (0.9999...1.5001).contains($0) })
                    #expect(waits.min()! < 1.05 && waits.max()! > 1.45)
                }
            }
        }
    }

    @Test("a repetition without jitter takes none of its loop's random numbers")
    func noJitter() throws {
        let worlds = (0..<2).map { _ in World(seed: 1) }
        let loops = try worlds.map { try $0.addHost("a").makeLoop() }
        loops[0].repeat(every: .seconds(1)) {}.future.ignoreFailure()
        #expect(loops[0].random.next() == loops[1].random.next())
        for loop in loops { loop.shutdown() }
    }

    @Test(
        "runs that return a future never overlap", arguments: Driver.allCases,
        [RepeatPace.fixedDelay, .fixedRate])
    func overlap(driver: Driver, pace: RepeatPace) throws {
        try withLoop(driver) { loop in
            var (running, most, runs) = (0, 0, 0)
            let task = loop.repeat(every: .ticks(1), pace: pace) {
                running += 1
                runs += 1
                most = max(most, running)
                return loop.sleep(for: .ticks(2)).always { running -= 1 }
            }
            while runs < 3 { try pass(.ticks(1), on: loop) }
            task.cancel()
            try settle(loop)
            #expect(most == 1 && running == 0)
        }
    }

    @Test("a repetition ends with what its body throws, or its future fails with", arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let throwing = loop.repeat(every: .ticks(1)) {
                runs += 1
                if runs == 3 { throw Failure(runs) }
            }
            expect(throwing.future, failsWith: Failure(3))
            let failing = loop.repeat(every: .ticks(1)) { loop.failed(Failure(4), of: Int.self) }
            expect(failing.future, failsWith: Failure(4))
            let cancelled = loop.repeat(every: .ticks(1)) { loop.failed(CancellationError(), of: Int.self) }
            expectCancelled(cancelled.future)
            #expect(runs == 3)
        }
    }

    @Test("a repetition told so goes on after failures", arguments: Driver.allCases)
    func continues(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let task = loop.repeat(every: .ticks(1), onFailure: .continue) {
                runs += 1
                switch runs % 3 {
                case 0: throw Failure()
                case 1: return loop.failed(Failure(), of: Int.self)
                default: return loop.failed(CancellationError())
                }
            }
            while runs < 5 { try pass(.ticks(1), on: loop) }
            #expect(!task.future.isCompleted)
            #expect(task.cancel())
        }
    }

    @Test("cancelling between two runs stops the timer and releases the body", arguments: Driver.allCases)
    func cancelledWaiting(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func start() -> ScheduledTask<Void> {
                let witness = Witness()
                captured = witness
                return loop.repeat(every: .seconds(100)) { witness.look() }
            }
            let task = start()
            #expect(loop.statistics.timers == 1)
            #expect(task.cancel())
            #expect(loop.statistics.timers == 0)
            #expect(captured == nil)
        }
    }

    @Test("cancelling in the midst of a run cancels the future of the run", arguments: Driver.allCases)
    func cancelledRunning(driver: Driver) throws {
        try withLoop(driver) { loop in
            let run = loop.makePromise(of: Int.self)
            let started = loop.makePromise(of: Void.self)
            let task = loop.repeat(every: .ticks(1)) {
                started.succeed()
                return run.future
            }
            try loop.run(until: started.future)
            #expect(task.cancel())
            #expect("\(run.future)" == "Future(cancelled)")
            try pass(.ticks(3), on: loop)
        }
    }

    @Test("a body that cancels its own repetition runs no more", arguments: Driver.allCases)
    func cancelledByBody(driver: Driver) throws {
        try withLoop(driver) { loop in
            var (runs, tasks): (Int, [ScheduledTask<Void>]) = (0, [])
            let run = loop.makePromise(of: Int.self)
            tasks.append(
                loop.repeat(every: .ticks(1)) {
                    runs += 1
                    tasks[0].cancel()
                })
            tasks.append(
                loop.repeat(every: .ticks(1)) {
                    runs += 1
                    tasks[1].cancel()
                    return run.future
                })
            tasks.append(
                loop.repeat(every: .ticks(1), onFailure: .continue) {
                    runs += 1
                    tasks[2].cancel()
                    throw Failure()
                })
            try pass(.ticks(5), on: loop)
            #expect(runs == 3)
            #expect(loop.statistics.timers == 0)
            #expect("\(run.future)" == "Future(cancelled)")
            tasks = []
        }
    }

    @Test("a repetition that does not keep the loop alive lets it end", arguments: Driver.allCases)
    func keepsLoopAlive(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let slow = loop.repeat(every: .seconds(3600), keepsLoopAlive: false) { runs += 1 }
            try loop.run()
            #expect(runs == 0)
            let fast = loop.repeat(every: .ticks(1), keepsLoopAlive: false) { runs += 1 }
            try pass(.ticks(3), on: loop)
            #expect(runs > 0)
            for task in [slow, fast] { task.cancel() }
        }
    }

    @Test("an interval has to be positive", arguments: Driver.allCases)
    func interval(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectRefused(_ interval: Duration, _ text: String) {
                let task = loop.repeat(every: interval) { Issue.record("the body has run") }
                expect(task.future, failsWith: FutureError.invalidArgument(text))
                #expect(!task.cancel())
            }
            expectRefused(.zero, "an interval of 0.0 seconds is not positive; give more than zero")
            expectRefused(.seconds(-2), "an interval of -2.0 seconds is not positive; give more than zero")
        }
    }

    @Test("the shortest interval is a nanosecond", arguments: [RepeatPace.fixedDelay, .fixedRate])
    func shortest(pace: RepeatPace) throws {
        try withLoop(.virtual) { loop in
            var runs = 0
            let task = loop.repeat(every: .nanoseconds(1), pace: pace) { runs += 1 }
            loop.advance(by: .nanoseconds(5))
            #expect(runs == 5)
            task.cancel()
        }
    }

    @Test("of the starts of a fixed rate, those that are due during a run or at its very end are missed")
    func missed() throws {
        try withLoop(.virtual) { loop in
            func starts(lasting nanoseconds: Int) -> [Duration] {
                let start = loop.now
                var starts: [Duration] = []
                let task = loop.repeat(every: .nanoseconds(10), pace: .fixedRate) {
                    starts.append(start.duration(to: loop.now))
                    return loop.sleep(for: .nanoseconds(nanoseconds))
                }
                loop.advance(by: .nanoseconds(80))
                task.cancel()
                return starts
            }
            #expect(starts(lasting: 9) == [10, 20, 30, 40, 50, 60, 70, 80].map { .nanoseconds($0) })
            #expect(starts(lasting: 18) == [10, 30, 50, 70].map { .nanoseconds($0) })
            #expect(starts(lasting: 19) == [10, 30, 50, 70].map { .nanoseconds($0) })
            #expect(starts(lasting: 20) == [10, 40, 70].map { .nanoseconds($0) })
        }
    }

    @Test("intervals of centuries do not overflow")
    func centuries() throws {
        try withLoop(.virtual) { loop in
            let centuries = Duration.seconds(300 * 365 * 86_400)
            var runs = 0
            let tasks = [RepeatPace.fixedDelay, .fixedRate].map { pace in
                loop.repeat(every: centuries, pace: pace) { runs += 1 }
            }
            loop.advance(by: centuries)
            #expect(runs == 2)
            for task in tasks { task.cancel() }
        }
    }
}
