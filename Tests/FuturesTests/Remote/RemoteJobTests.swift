import Dispatch
import Futures
import TestSupport
import Testing

struct RemoteJobTests {
    @Test("remote closures of many threads and a shutdown end each future once", arguments: Driver.allCases)
    func shutdownOfJobs(driver: Driver) throws {
        for _ in 0..<10 {
            try withLoop(driver) { loop in
                let context = try RemoteContext.limited(maxConcurrent: 4, on: .default)
                let (ran, succeeded, ended) = (Tally(), Tally(), Tally())
                for _ in 0..<200 {
                    context.execute(on: loop) { ran.add() }.whenComplete { result in
                        if case .success = result { succeeded.add() }
                        ended.add()
                    }
                }
                try settle(loop)
                loop.shutdown()
                #expect(ended.sum == 200)
                // The slots come back without the loop.
                try withLoop(driver) { other in
                    try expect(context.barrier.execute(on: other) { 1 }, succeedsWith: 1)
                }
                #expect(succeeded.sum <= ran.sum)
            }
        }
    }

    @Test("cancelling before the start releases the closure unrun", arguments: Driver.allCases)
    func cancelBeforeStart(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = DispatchQueue(label: "busy")
            let (isBusy, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            queue.async {
                isBusy.signal()
                mayEnd.wait()
            }
            isBusy.wait()
            let released = Tally()
            func start() -> Future<Int> {
                let token = Token { released.add() }
                return loop.succeeded(1).map(on: .queue(queue)) { value in
                    Issue.record("a cancelled closure has run")
                    return withExtendedLifetime(token) { value }
                }
            }
            let future = start()
            try settle(loop)
            #expect(released.sum == 0)
            #expect(future.cancel())
            expectCancelled(future)
            #expect(released.sum == 1)
            try loop.run()
            mayEnd.signal()
            queue.sync {}
        }
    }

    @Test("cancelling while it runs cancels the future, and its value is dropped", arguments: Driver.allCases)
    func cancelWhileRunning(driver: Driver) throws {
        try withLoop(driver) { loop in
            let queue = DispatchQueue(label: "running")
            let (isRunning, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let future = RemoteContext.queue(queue).execute(on: loop) {
                isRunning.signal()
                mayEnd.wait()
                return 1
            }
            isRunning.wait()
            #expect(future.cancel())
            #expect("\(future)" == "Future(cancelled)")
            try loop.run()
            mayEnd.signal()
            queue.sync {}
            try loop.run()
            expectCancelled(future)
        }
    }

    @Test("a closure that a custom context drops breaks its future", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let nowhere = RemoteContext.custom(name: "nowhere") { _ in }
            expect(
                nowhere.execute(on: loop, file: "Here.swift", line: 8) { 1 },
                failsWith: FutureError.brokenPromise(file: "Here.swift", line: 8))
            let twice = RemoteContext.custom { job in
                job()
                job()
            }
            let runs = Tally()
            try loop.run(until: twice.execute(on: loop) { runs.add() })
            #expect(runs.sum == 1)
        }
    }

    @Test("a closure that a context keeps after its run holds nothing that looks like a leak")
    func kept() async {
        await #expect(processExitsWith: .success) {
            let loop = try Driver.virtual.makeLoop()
            let keeper = RemoteContext.custom { job in
                job()
                keptJobs.add(job)
            }
            try loop.run(until: keeper.execute(on: loop) {})
            loop.shutdown()
        }
    }

    @Test(
        "who asks for the end of a job hears of it once, and at once if it has ended",
        arguments: [true, false])
    func ended(isCancelled: Bool) throws {
        try withLoop(.virtual) { loop in
            let (job, seen) = (RemoteJob(loop.core) { _ in }, SharedRecord<String>())
            job.whenEnded { seen.add("before") }
            #expect(job.isWaiting && seen.entries.isEmpty)
            if isCancelled { job.cancel() } else { job.run() }
            job.whenEnded { seen.add("after") }
            job.cancel()
            job.run()
            #expect(!job.isWaiting && seen.entries == ["before", "after"])
        }
    }

    @Test("a closure that has run comes back as one job", arguments: Driver.allCases)
    func oneJob(driver: Driver) throws {
        try withLoop(driver) { loop in
            let here = RemoteContext.custom { job in job() }
            #expect(here.execute(on: loop) { 1 }.isSuccess)
            #expect(loop.statistics.readyCallbacks == 0)

            let elsewhere = RemoteContext.custom { job in
                let group = DispatchGroup()
                startThread(of: group, job)
                group.wait()
            }
            // Where callbacks are watched, each job of another thread counts as one.
            loop.onSlowCallback(longerThan: .seconds(100)) { _ in }
            let before = loop.statistics.callbacks
            let values = (0..<10).map { index in elsewhere.execute(on: loop) { index } }
            try loop.run()
            #expect(values.map { $0.result?.value } == Array(0..<10))
            #expect(loop.statistics.callbacks - before == 10)
        }
    }
}

/// Reachable until the process ends, when the address sanitizer looks for what is not.
private let keptJobs = SharedRecord<@Sendable () -> Void>()

/// Tells when it is released.
private final class Token: Sendable {
    private let released: @Sendable () -> Void

    init(released: @escaping @Sendable () -> Void) { self.released = released }

    deinit { released() }
}
