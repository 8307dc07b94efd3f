import Dispatch
import Futures
import TestSupport
import Testing

/// Asynchronous bodies behind futures: tasks of a loop.
struct AsyncTests {
    @Test(
        "an asynchronous body on a loop completes its future with what it returns, not before a turn",
        arguments: Driver.allCases)
    func succeeds(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let witness = Witness { seen.add("released") }
            let future = Future(on: loop) {
                witness.look()
                seen.add("began")
                let one = try await loop.submit { 1 }.value
                let two = try await loop.sleep(for: .ticks(1)).map { 2 }.value
                #expect(loop.isCurrent)
                return one + two
            }
            #expect(seen.entries.isEmpty)
            try expect(future, succeedsWith: 3)
            try settle(loop)
            #expect(seen.entries == ["began"])
            witness.look()
        }
    }

    @Test("an asynchronous body's closure is released when it has ended", arguments: Driver.allCases)
    func released(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            func start() -> Future<Void> {
                let witness = Witness { seen.add("released") }
                return Future(on: loop) {
                    try await loop.submit {}.value
                    witness.look()
                }
            }
            let future = start()
            try expect(future.map { 1 }, succeedsWith: 1)
            try settle(loop)
            #expect(seen.entries == ["released"])
        }
    }

    @Test("an asynchronous body that throws fails its future, or cancels it", arguments: Driver.allCases)
    func throwing(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            expect(Future<Int>(on: loop) { throw Failure(1) }, failsWith: Failure(1))
            let later = Future<Int>(on: loop) {
                try await loop.submit {}.value
                throw Failure(2)
            }
            expect(later, failsWith: Failure(2))
            expect(Future(on: loop) { try await later.value }, failsWith: Failure(2))
            expectCancelled(Future<Int>(on: loop) { throw CancellationError() })
        }
    }

    @Test(
        "an asynchronous body touches what belongs to the loop, and is back there after each await",
        arguments: Driver.allCases)
    func isolated(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let threads = DispatchGroup()
            let future = Future(on: loop) {
                await visit(threads)
                #expect(loop.isCurrent)
                seen.add(1)
                await nonisolatedWork(seen)
                await visit(threads)
                #expect(loop.isCurrent)
                loop.assertIsolated()
                loop.preconditionIsolated()
                return seen
            }
            let returned = try loop.run(until: future)
            threads.wait()
            #expect(returned === seen)
            #expect(seen.entries == ["1", "nonisolated"])
        }
    }

    @Test(
        "cancelling the future of an asynchronous body cancels its task, and the future at once",
        arguments: Driver.allCases)
    func cancelled(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let waiting = loop.makePromise(of: Int.self)
            let future = Future(on: loop) {
                do {
                    return try await waiting.future.value
                } catch {
                    seen.add("\(type(of: error)), \(Task.isCancelled)")
                    throw Failure()
                }
            }
            try settle(loop)
            #expect(future.cancel())
            #expect("\(future)" == "Future(cancelled)")
            try loop.run()
            #expect(seen.entries == ["CancellationError, true"])
            #expect("\(waiting.future)" == "Future(cancelled)")

            let unstarted = Future<Void>(on: loop) { seen.add("began, \(Task.isCancelled)") }
            #expect(unstarted.cancel())
            try loop.run()
            #expect(seen.entries.last == "began, true")
            expect(
                Future<Void>(on: loop) { try await loop.sleep(for: .seconds(100)).value }.timeout(
                    after: .ticks(1)),
                failsWith: FutureError.timedOut(after: .ticks(1)))
            try loop.run()
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("run waits for asynchronous bodies, wherever they are", arguments: Driver.allCases)
    func keepsAlive(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let threads = DispatchGroup()
            let future = Future(on: loop) {
                await visit(threads)
                return 1
            }
            try loop.run()
            threads.wait()
            #expect("\(future)" == "Future(success: 1)")
        }
    }

    @Test(
        "shutdown fails an asynchronous body's future with shutDown, cancels the task and waits for its end",
        arguments: Driver.allCases)
    func shutdown(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let elsewhere = DispatchGroup()
            let future = Future<Void>(on: loop) {
                await outlastCancellation(elsewhere)
                #expect(loop.isCurrent)
                seen.add(Task.isCancelled)
                do { try await loop.sleep(for: .zero).value } catch { seen.add(error) }
                expectRefused(Future<Int>(on: loop) { 1 })
            }
            try settle(loop)
            loop.shutdown()
            #expect(seen.entries == ["true", "\(FutureError.shutDown)"])
            #expect("\(future)" == "Future(failure: \(FutureError.shutDown))")
            expectRefused(Future<Int>(on: loop) { 1 })
            elsewhere.wait()
        }
    }

    @Test("shutdown runs a body that has not begun, as cancelled", arguments: Driver.allCases)
    func shutdownBefore(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let future = Future<Void>(on: loop) { seen.add(Task.isCancelled) }
            loop.shutdown()
            #expect(seen.entries == ["true"])
            #expect("\(future)" == "Future(failure: \(FutureError.shutDown))")
        }
    }

    @Test("an asynchronous body decides the outcome of a promise", arguments: Driver.allCases)
    func promise(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            #expect(promises[0].complete { try await loop.submit { 1 }.value })
            #expect(!promises[0].succeed(2))
            #expect(promises[1].complete { () async throws -> Int in throw Failure(3) })
            promises[2].succeed(4)
            #expect(!promises[2].complete { () async -> Int in fatalError("began") })
            try expect(promises[0].future, succeedsWith: 1)
            expect(promises[1].future, failsWith: Failure(3))
            try expect(promises[2].future, succeedsWith: 4)
            let cancelled = loop.makePromise(of: Int.self)
            let waiting = loop.makePromise(of: Int.self)
            cancelled.complete { try await waiting.future.value }
            try settle(loop)
            #expect(cancelled.future.cancel())
            try loop.run()
            #expect("\(waiting.future)" == "Future(cancelled)")
        }
    }

    @Test(
        "shutdown runs the jobs of other threads for as long as a body may wait for them",
        arguments: Driver.allCases)
    func shutdownServes(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let elsewhere = DispatchGroup()
            let future = Future<Void>(on: loop) {
                await outlastCancellation(elsewhere) { continuation in
                    #expect(loop.execute { continuation.resume() })
                }
                seen.add("ended")
            }
            try settle(loop)
            loop.shutdown()
            #expect(seen.entries == ["ended"])
            #expect("\(future)" == "Future(failure: \(FutureError.shutDown))")
            elsewhere.wait()
            #expect(!loop.execute {})
            let isAccepted = try onThread { loop.execute {} }
            #expect(!isAccepted)
        }
    }

    @Test("shutdown waits for a body that comes back and leaves again", arguments: Driver.allCases)
    func shutdownOfRestless(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let elsewhere = DispatchGroup()
            let future = Future<Void>(on: loop) {
                for number in 0..<3 {
                    await outlastCancellation(elsewhere) { continuation in
                        #expect(loop.execute { continuation.resume() })
                    }
                    seen.add(number)
                }
            }
            try settle(loop)
            loop.shutdown()
            #expect(seen.entries == ["0", "1", "2"])
            expectRefused(future)
            elsewhere.wait()
        }
    }

    private func expectRefused<Value>(
        _ future: Future<Value>, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            "\(future.ignoreFailure())" == "Future(failure: \(FutureError.shutDown))",
            sourceLocation: sourceLocation)
    }
}

/// Goes to another thread and comes back. Not to the pool of the tasks: tests that run loops may fill it.
private func visit(_ threads: DispatchGroup) async {
    await withCheckedContinuation { continuation in
        startThread(of: threads) { continuation.resume() }
    }
}

private func nonisolatedWork(_ record: Record) async {
    record.add("nonisolated")
}
