import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct WaitTests {
    @Test("another thread waits for a future, and gets its value or error", arguments: Driver.allCases)
    func outcomes(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            try onThread {
                let value = try loop.wait { loop.sleep(for: .ticks(1)).map { 1 } }
                #expect(value == 1)
                let completed = try loop.wait(timeout: .seconds(1000)) { loop.succeeded(2) }
                #expect(completed == 2)
                #expect(throws: Failure(3)) { try loop.wait { loop.failed(Failure(3), of: Int.self) } }
                #expect(throws: Failure(4)) { try loop.wait { () -> Future<Int> in throw Failure(4) } }
                #expect(throws: CancellationError.self) {
                    try loop.wait {
                        let forever = loop.makePromise(of: Int.self)
                        loop.submit { forever.cancel() }.whenSuccess { _ in }
                        return forever.future
                    }
                }
            }
        }
    }

    @Test("a timeout ends the wait and asks the future to cancel", arguments: Driver.allCases)
    func timeout(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            try onThread {
                let asked = DispatchSemaphore(value: 0)
                let limit = Duration.milliseconds(1)
                #expect(throws: FutureError.timedOut(after: limit)) {
                    try loop.wait(timeout: limit) {
                        let forever = loop.makePromise(of: Int.self)
                        forever.onCancelRequest {
                            withExtendedLifetime(forever) { _ = asked.signal() }
                            return .cancel
                        }
                        return forever.future
                    }
                }
                asked.wait()
                let text = "a timeout of -1.0 seconds is negative; give zero or more"
                #expect(throws: FutureError.invalidArgument(text)) {
                    try loop.wait(timeout: .seconds(-1)) { loop.succeeded() }
                }
            }
        }
    }

    @Test("it fails with stalled when run has nothing left to do", arguments: Driver.allCases)
    func stalled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            let (waits, promise) = (DispatchSemaphore(value: 0), loop.makePromise(of: Int.self))
            nonisolated(unsafe) let future = promise.future
            startThread(of: group) {
                do {
                    _ = try loop.wait {
                        waits.signal()
                        return unsafe future
                    }
                } catch {
                    ended.add("\(error)")
                }
            }
            // What the thread posts wakes this run, if it does not come before.
            loop.core.hold()
            loop.submit {
                RemoteContext.default.execute(on: loop) { waits.wait() }.whenSuccess { loop.core.letGo() }
            }.whenSuccess {}
            try loop.run()
            group.wait()
            #expect(ended.entries == ["\(FutureError.stalled)"])
            #expect("\(promise.future)" == "Future(cancelled)")
        }
    }

    @Test("shutdown ends the wait, and refuses the next", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            for _ in 0..<2 {
                startThread(of: group) {
                    do {
                        _ = try loop.wait { () -> Future<Void> in
                            loop.stop()
                            return loop.sleep(for: .seconds(1000))
                        }
                    } catch {
                        ended.add("\(error)")
                    }
                }
                if !loop.core.isShutDown {
                    loop.core.hold()
                    try loop.run()
                    loop.core.letGo()
                    loop.shutdown()
                }
                group.wait()
            }
            #expect(ended.entries == Array(repeating: "\(FutureError.shutDown)", count: 2))
        }
    }

    @Test("tasks run closures on the loop and get what these send or throw", arguments: Driver.allCases)
    func run(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let wasCurrent = try await loop.run { loop.isCurrent }
            #expect(wasCurrent)
            // What a closure makes and nobody keeps need not be Sendable.
            let record = try await loop.run {
                let record = Record()
                record.add("sent")
                return record
            }
            #expect(record.entries == ["sent"])
            await #expect(throws: Failure(1)) { try await loop.run { throw Failure(1) } }
        }
    }

    @Test("tasks await futures that their closures make on the loop", arguments: Driver.allCases)
    func runFuture(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let value = try await loop.run { loop.sleep(for: .ticks(1)).map { 1 } }
            #expect(value == 1)
            await #expect(throws: Failure(2)) { try await loop.run { loop.failed(Failure(2), of: Int.self) } }
            await #expect(throws: Failure(3)) { try await loop.run { () -> Future<Int> in throw Failure(3) } }
        }
    }

    @Test(
        "cancelling the task, before or after, ends the wait and cancels the future",
        arguments: Driver.allCases)
    func cancelRun(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            for isEarly in [true, false] {
                let (started, start) = AsyncStream.makeStream(of: Void.self)
                let promise = loop.makeRemotePromise(of: Int.self)
                let task = Task {
                    try await loop.run {
                        start.finish()
                        return promise.future.map { $0 }
                    }
                }
                if !isEarly { for await _ in started {} }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                let isCompleted = try await loop.run { promise.future.isCompleted }
                #expect(isCompleted)
                #expect(promise.isCancelled)
            }
        }
    }

    @Test("a task that is on the loop already awaits there as well", arguments: Driver.allCases)
    func runFromLoop(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let sum = try await withTaskExecutorPreference(loop) {
                try await loop.run { loop.submit { 1 } } + loop.run { loop.succeeded(2) }
            }
            #expect(sum == 3)
        }
    }

    @Test("shutdown ends the await of a task elsewhere", arguments: Driver.allCases)
    func shutdownOfRun(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            group.enter()
            Task.detached {
                do {
                    try await loop.run { () -> Future<Void> in
                        loop.stop()
                        return loop.sleep(for: .seconds(1000))
                    }
                } catch {
                    ended.add("\(error)")
                }
                group.leave()
            }
            loop.core.hold()
            try loop.run()
            loop.core.letGo()
            loop.shutdown()
            group.wait()
            #expect(ended.entries == ["\(FutureError.shutDown)"])
        }
    }

    @Test("shutdown ends the await of a future that nothing completes")
    func shutdownOfEndless() async throws {
        try await withLoopOnThread(.virtual) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            group.enter()
            let forever = loop.never(of: Int.self)
            // The task's closure may be released on another thread, and must not hold the future by then.
            nonisolated(unsafe) var carried: Future<Int>? = forever
            // It is no timer any more.
            loop.advance(by: .seconds(Int64.max))
            Task.detached {
                do {
                    _ = try await loop.run { () -> Future<Int> in
                        loop.stop()
                        return unsafe carried.take()!
                    }
                } catch {
                    ended.add("\(error)")
                }
                group.leave()
            }
            loop.core.hold()
            try loop.run()
            loop.core.letGo()
            loop.shutdown()
            #expect(group.wait(timeout: .now() + 60) == .success)
            #expect(ended.entries == ["\(FutureError.shutDown)"])
            #expect(forever.isCompleted)
        }
    }

    @Test("tasks get shutDown from a loop that has been shut down", arguments: Driver.allCases)
    func runAfterShutdown(driver: Driver) async throws {
        let loop = try onThread { [driver] in
            let loop = try driver.makeLoop()
            loop.shutdown()
            return loop
        }
        await #expect(throws: FutureError.shutDown) { try await loop.run { 1 } }
        await #expect(throws: FutureError.shutDown) { try await loop.run { loop.succeeded(1) } }
    }
}
