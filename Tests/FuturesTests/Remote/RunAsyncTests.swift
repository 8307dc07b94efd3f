import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct RunAsyncTests {
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

    @Test("tasks run work on the loop from anywhere and await its outcome", arguments: Driver.allCases)
    func runFromTask(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let ranOnLoop = try await loop.run { loop.isCurrent }
            #expect(ranOnLoop)
            await #expect(throws: Failure(2)) { try await loop.run { throw Failure(2) } }
        }
    }

    @Test("tasks that submit work to a loop that has been shut down get an error", arguments: Driver.allCases)
    func submitFromTask(driver: Driver) async throws {
        let loop = try onThread { [driver] in
            let loop = try driver.makeLoop()
            loop.shutdown()
            return loop
        }
        await #expect(throws: FutureError.shutDown) { try await loop.run { 1 } }
    }
}
