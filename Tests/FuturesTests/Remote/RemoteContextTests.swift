import Dispatch
import Futures
import TestSupport
import Testing

struct RemoteContextTests {
    private static let contexts: [RemoteContext] = [
        .background, .utility, .default, .userInitiated, .userInteractive,
        .queue(DispatchQueue(label: "one")), .queue(DispatchQueue(label: "many", attributes: .concurrent)),
        .serial(on: .default), .custom { job in startThread(job) { _ in } },
    ]

    @Test(
        "a closure runs on another thread, its future completes on the loop", arguments: contexts,
        Driver.allCases)
    func execute(context: RemoteContext, driver: Driver) throws {
        try withLoop(driver) { loop in
            let value = context.execute(on: loop) { loop.isCurrent }
            #expect(!value.isCompleted)
            let checked = value.map { wasOnLoop in
                #expect(loop.isCurrent)
                return wasOnLoop
            }
            try expect(checked, succeedsWith: false)
            expect(context.execute(on: loop) { throw Failure(2) }, failsWith: Failure(2))
            expectCancelled(context.execute(on: loop) { throw CancellationError() })
            let inside = loop.submit { context.execute { 3 } }.flatMap { $0 }
            try expect(inside, succeedsWith: 3)
        }
    }

    @Test("the loop turns while a closure runs on another thread", arguments: contexts, Driver.allCases)
    func loopTurns(context: RemoteContext, driver: Driver) throws {
        try withLoop(driver) { loop in
            let (ticks, enough) = (Tally(), DispatchSemaphore(value: 0))
            loop.execute { [unowned loop] in
                func tick() {
                    ticks.add()
                    if ticks.sum == 100 { enough.signal() } else { loop.submit {}.whenSuccess(tick) }
                }
                tick()
            }
            let waited = context.execute(on: loop) {
                enough.wait()
                return ticks.sum
            }
            try expect(waited, succeedsWith: 100)
        }
    }

    @Test("jobs jump between threads and come back in order", arguments: Driver.allCases)
    func jumping(driver: Driver) throws {
        try withLoop(driver) { loop in
            let contexts = Self.contexts
            var future = loop.succeeded(0)
            for step in 0..<100 {
                future = future.map(on: contexts[step % contexts.count]) { $0 + 1 }.map { $0 + 1 }
            }
            try expect(future, succeedsWith: 200)
        }
    }

    @Test("delayed and repeated closures run there, until cancelled", arguments: Driver.allCases)
    func delayed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .default)
            let start = loop.now
            let late = context.execute(after: .ticks(3), on: loop) { loop.isCurrent }
            try expect(late.future, succeedsWith: false)
            #expect(start.duration(to: loop.now) >= .ticks(3))
            expect(
                context.execute(after: .seconds(-1), on: loop) { 1 }.future,
                failsWith: FutureError.invalidArgument(
                    "a delay of -1.0 seconds is negative; give zero or more"))
            let never = context.execute(after: .ticks(1), on: loop) { Issue.record("it was cancelled") }
            #expect(never.cancel())
            let runs = Tally()
            let repeated = context.repeat(every: .ticks(1), on: loop) {
                if loop.isCurrent { Issue.record("a repetition has run on the loop") }
                runs.add()
                if runs.sum == 3 { throw Failure(3) }
            }
            expect(repeated.future, failsWith: Failure(3))
            #expect(runs.sum == 3)
            let endless = context.repeat(every: .ticks(1), on: loop) { runs.add() }
            try loop.run(until: loop.sleep(for: .ticks(3)))
            #expect(endless.cancel())
            try loop.run()
        }
    }

    @Test("shutdown fails what waits and what runs, and refuses more", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        let queue = DispatchQueue(label: "shut down")
        try withLoop(driver) { loop in
            let context = RemoteContext.queue(queue)
            let (isRunning, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let running = context.execute(on: loop) {
                isRunning.signal()
                mayEnd.wait()
            }
            let waiting = context.execute(on: loop) { () -> Void in Issue.record("it had failed before") }
            isRunning.wait()
            loop.shutdown()
            let late = context.execute(on: loop) { () -> Void in Issue.record("it is too late") }
            for future in [running, waiting, late] {
                #expect("\(future)" == "Future(failure: the event loop has been shut down; make a new one)")
                future.ignoreFailure()
            }
            mayEnd.signal()
            queue.sync {}
        }
    }

    @Test("shutdown fails a future that nobody else holds", arguments: Driver.allCases)
    func shutdownUnheld(driver: Driver) throws {
        let queue = DispatchQueue(label: "suspended")
        try withLoop(driver) { loop in
            queue.suspend()
            defer { queue.resume() }
            let sum = loop.succeeded(1).map(on: .queue(queue)) { $0 + 1 }
            RemoteContext.queue(queue).execute(on: loop) {}.ignoreFailure()
            try loop.run(until: loop.submit {})
            loop.shutdown()
            #expect("\(sum)" == "Future(failure: the event loop has been shut down; make a new one)")
            sum.ignoreFailure()
        }
        queue.sync {}
    }

    @Test("contexts are described by their names, and equal if they are the same")
    func names() throws {
        let queue = DispatchQueue(label: "disk")
        #expect("\(RemoteContext.queue(queue))" == "queue disk")
        #expect("\(RemoteContext.utility)" == "utility")
        #expect("\(RemoteContext.serial(on: .queue(queue)))" == "serial on queue disk")
        #expect("\(try RemoteContext.limited(maxConcurrent: 2, on: .default))" == "limited on default")
        #expect(
            "\(try RemoteContext.limited(maxConcurrent: 2, on: .default, name: "two").barrier)"
                == "two, barrier")
        #expect("\(RemoteContext.custom { $0() })" == "custom")
        #expect(RemoteContext.queue(queue) == .queue(queue))
        #expect(RemoteContext.queue(queue) != .queue(queue).barrier)
        #expect(RemoteContext.serial(on: .default) != .serial(on: .default))
        #expect(Set([RemoteContext.queue(queue), .queue(queue), .queue(queue).barrier]).count == 2)
        func all() -> [RemoteContext] { [.background, .utility, .default, .userInitiated, .userInteractive] }
        #expect(all() == all() && Set(all() + all()).count == 5)
    }
}
