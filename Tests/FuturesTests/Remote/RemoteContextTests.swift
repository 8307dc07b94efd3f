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

    @Test("combinators run their closures there, and pass what is not theirs", arguments: Driver.allCases)
    func combinators(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .default)
            let (one, failed) = (loop.succeeded(1), loop.failed(Failure(2), of: Int.self))
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            @Sendable func away<Value>(_ value: Value) -> Value {
                if loop.isCurrent { Issue.record("a closure has run on the loop") }
                return value
            }
            try expect(one.map(on: context) { away($0 + 1) }, succeedsWith: 2)
            expect(one.map(on: context) { _ in throw away(Failure(3)) }, failsWith: Failure(3))
            expect(failed.map(on: context) { $0 }, failsWith: Failure(2))
            expectCancelled(cancelled.map(on: context) { $0 })
            try expect(failed.recover(on: context) { _ in away(4) }, succeedsWith: 4)
            try expect(one.recover(on: context) { _ in 4 }, succeedsWith: 1)
            expectCancelled(cancelled.recover(on: context) { _ in 4 })
            try expect(
                cancelled.recover(including: .cancellation, on: context) { _ in away(5) }, succeedsWith: 5)
            expect(failed.mapError(on: context) { _ in away(Failure(6)) }, failsWith: Failure(6))
            for future in [one, failed, cancelled] {
                let wasSuccess = (try? future.result?.get()) != nil
                try expect(
                    future.mapResult(on: context) { away((try? $0.get()) != nil) }, succeedsWith: wasSuccess)
            }
            try expect(one.tap(on: context) { _ = away($0) }, succeedsWith: 1)
            expect(one.tap(on: context) { _ in throw Failure(7) }, failsWith: Failure(7))
            expect(failed.tapError(on: context) { _ = away($0) }, failsWith: Failure(2))
            let both = #expect(throws: CleanUpError.self) {
                try loop.run(until: failed.tapError(on: context) { _ in throw Failure(8) })
            }
            #expect(both?.cleanUpError as? Failure == Failure(8))
            try expect(one.tapResult(on: context) { _ = away($0) }, succeedsWith: 1)
            expectCancelled(cancelled.tapResult(on: context) { _ = away($0) })
            try expect(one.filter(on: context) { away($0) == 1 }, succeedsWith: 1)
            expect(one.filter(on: context) { away($0) == 2 }, failsWith: FutureError.filtered)
            let isOver = Tally()
            expect(failed.always(on: context) { isOver.add(away(1)) }, failsWith: Failure(2))
            #expect(isOver.sum == 1)
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.future.always(on: context) { isOver.add(away(1)) }.cancel())
            try settle(loop)
            try expect(context.execute(on: loop) { isOver.sum }, succeedsWith: 2)
            let here = RemoteContext.loop(loop)
            try expect(failed.flatMapError(on: here) { _ in loop.succeeded(9) }, succeedsWith: 9)
        }
    }

    @Test(
        "observers run there, in order where the context is serial, and keep run going",
        arguments: Driver.allCases)
    func observers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .default)
            let seen = SharedRecord<String>()
            @Sendable func add(_ entry: String) {
                if loop.isCurrent { Issue.record("an observer has run on the loop") }
                seen.add(entry)
            }
            let futures = [loop.succeeded(1), loop.failed(Failure(2)), loop.failed(CancellationError())]
            for future in futures {
                future.whenComplete(on: context) { result in
                    switch result {
                    case .success(let value): add("complete \(value)")
                    case .failure(let error): add("complete \(error is CancellationError ? "-" : "!")")
                    }
                }
                future.whenSuccess(on: context) { add("success \($0)") }
                future.whenFailure(on: context) { add("failure \(($0 as? Failure)?.code ?? 0)") }
                future.whenCancelled(on: context) { add("cancelled") }
            }
            try loop.run()
            #expect(
                seen.entries == [
                    "complete 1", "success 1", "complete !", "failure 2", "complete -", "cancelled",
                ])
        }
    }

    @Test("flatMap to another loop waits for that one's future", arguments: Driver.allCases)
    func otherLoop(driver: Driver) async throws {
        try await withRunningLoop(driver) { other in
            try onThread {
                try withLoop(driver) { loop in
                    let there = RemoteContext.loop(other, name: "other")
                    let sum = loop.succeeded(1)
                        .flatMap(on: there) { value in other.sleep(for: .ticks(1)).map { value + 1 } }
                        .map(on: there) { value in other.isCurrent ? value : -1 }
                    try expect(sum, succeedsWith: 2)
                    let failed = loop.succeeded(1).flatMap(on: there) { _ -> Future<Int> in throw Failure(3) }
                    expect(failed, failsWith: Failure(3))
                    expect(
                        loop.succeeded(1).flatMap(on: there) { _ in other.failed(Failure(4), of: Int.self) },
                        failsWith: Failure(4))
                    #expect("\(there)" == "other")
                }
            }
        }
    }

    /// How a future of a loop comes to wait for that of another one.
    enum Crossing: String, CaseIterable, Codable {
        case flatMap, flatMapError, complete, completeCancelled

        func start(on loop: EventLoop, _ there: RemoteContext, _ make: @escaping @Sendable () -> Future<Int>)
            -> Future<Int>
        {
            switch self {
            case .flatMap: return loop.succeeded().flatMap(on: there) { _ in make() }
            case .flatMapError: return loop.failed(Failure()).flatMapError(on: there) { _ in make() }
            case .complete, .completeCancelled:
                let promise = loop.makeRemotePromise(of: Int.self)
                if self == .completeCancelled { promise.future.cancel() }
                there.execute(on: loop) { promise.complete(using: make()) }.ignoreFailure()
                return promise.future
            }
        }
    }

    @Test(
        "cancelling a future asks the other loop's future that it waits for to cancel",
        arguments: Driver.allCases, Crossing.allCases)
    func cancelsOtherLoop(driver: Driver, crossing: Crossing) async throws {
        try await withRunningLoop(driver) { other in
            let (started, isCancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try onThread {
                try withLoop(driver) { loop in
                    let there = RemoteContext.loop(other, name: "other")
                    let future = crossing.start(on: loop, there) {
                        let promise = other.makePromise(of: Int.self)
                        promise.onCancelRequest { [promise] in
                            isCancelled.signal()
                            return promise.future.isCompleted ? .continue : .cancel
                        }
                        started.signal()
                        return promise.future.map { $0 }
                    }
                    for _ in 0..<3 { try settle(loop) }
                    started.wait()
                    future.cancel()
                    isCancelled.wait()
                    #expect("\(future)" == "Future(cancelled)")
                }
            }
        }
    }

    @Test("a future of another loop that others wait for goes on", arguments: Driver.allCases)
    func otherLoopGoesOn(driver: Driver) async throws {
        try await withRunningLoop(driver) { other in
            let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try onThread {
                try withLoop(driver) { loop in
                    let promise = loop.makeRemotePromise(of: Int.self)
                    other.execute {
                        let work = other.makeRemotePromise(of: Int.self)
                        work.future.whenSuccess { _ in ended.signal() }
                        promise.complete(using: work.future)
                        promise.onCancelRequest {
                            work.succeed(1)
                            return .cancel
                        }
                        started.signal()
                    }
                    started.wait()
                    promise.future.cancel()
                    ended.wait()
                }
            }
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

/// Tells when it is released.
private final class Token: Sendable {
    private let released: @Sendable () -> Void

    init(released: @escaping @Sendable () -> Void) { self.released = released }

    deinit { released() }
}
