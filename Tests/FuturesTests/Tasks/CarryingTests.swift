import Dispatch
import Futures
import FuturesTesting
import Glibc
import Synchronization
import TestSupport
import Testing

/// Ways to carry what belongs to a loop to another thread that the compiler lets pass: what nobody else holds may be
/// sent anywhere. Each ends the process with a sentence, in release too. What does not compile is in
/// `Checks/MustNotCompile`.
struct CarryingTests {
    enum Way: String, CaseIterable, Codable, CustomTestStringConvertible {
        case detachedTask, task, capturedClass, capturedTogether, asyncLet, concurrentFunction
        case foreignActor, foreignActorMakes, foreignActorAwaits, mutex, stream, sequence, release

        var testDescription: String { rawValue }
    }

    private final class Holder {
        let promise: Promise<Int>

        init(_ promise: Promise<Int>) { self.promise = promise }
    }

    private final class Guarded: Sendable {
        let promise: Mutex<Promise<Int>>

        init(_ promise: sending Promise<Int>) { self.promise = Mutex(promise) }
    }

    /// Its executor is Swift's own.
    private actor Foreign {
        func complete(_ promise: sending Promise<Int>) { promise.succeed(1) }
        func makeFuture(_ loop: EventLoop) { _ = loop.succeeded(1) }
        func value(of future: sending Future<Int>) async throws { _ = try await future.value }
    }

    @concurrent
    private static func observe(_ future: sending Future<Int>) async { future.whenSuccess { _ in } }

    private static func observeInTask(_ future: sending Future<Int>) -> Task<Void, Never> {
        Task { future.whenSuccess { _ in } }
    }

    private static func releaseInTask(_ promise: consuming sending Promise<Int>) -> Task<Void, Never> {
        var last = Optional(promise)
        return Task { _ = last.take() }
    }

    /// Begins on the loop's thread.
    private static func carry(_ way: Way, _ loop: EventLoop) async throws {
        switch way {
        case .detachedTask:
            let promise = loop.makePromise(of: Int.self)
            _ = await Task.detached { promise.succeed(1) }.value
        case .task: await observeInTask(loop.succeeded(1)).value
        case .capturedClass:
            let holder = Holder(loop.makePromise(of: Int.self))
            _ = await Task.detached { holder.promise.succeed(1) }.value
        case .capturedTogether:
            let (future, holder) = (loop.succeeded(1), Holder(loop.makePromise(of: Int.self)))
            await Task.detached { future.whenSuccess { holder.promise.succeed($0) } }.value
        case .asyncLet:
            let promise = loop.makePromise(of: Int.self)
            async let succeeded = { promise.succeed(1) }()
            _ = await succeeded
        case .concurrentFunction: await observe(loop.succeeded(1))
        case .foreignActor: await Foreign().complete(loop.makePromise(of: Int.self))
        case .foreignActorMakes: await Foreign().makeFuture(loop)
        case .foreignActorAwaits: try await Foreign().value(of: loop.sleep(for: .zero).map { 1 })
        case .mutex:
            let guarded = Guarded(loop.makePromise(of: Int.self))
            _ = await Task.detached { guarded.promise.withLock { $0.succeed(1) } }.value
        case .stream:
            let (futures, continuation) = AsyncStream.makeStream(of: Future<Int>.self)
            continuation.yield(loop.succeeded(1))
            await Task.detached { for await future in futures { future.whenSuccess { _ in } } }.value
        case .sequence:
            let ticks = loop.ticks(every: .seconds(1))
            try await Task.detached { for try await _ in ticks {} }.value
        case .release: await releaseInTask(loop.makePromise(of: Int.self)).value
        }
    }

    @Test(
        "what belongs to a loop, carried to another thread as the compiler permits", arguments: Way.allCases)
    func carried(way: Way) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [way] in
            try onThread {
                let loop = EventLoop.virtual()
                let body = Future(on: loop) {
                    try await withTaskExecutorPreference(globalConcurrentExecutor) {
                        try await CarryingTests.carry(way, loop)
                    }
                }
                try loop.run(until: body)
            }
        }
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(printed.contains("This future, promise or timer was used off its event loop's thread."))
    }

    @Test(
        "what a body of the loop gives to its own children, and to actors without an executor, stays on the loop",
        arguments: Driver.allCases,
        [Way.asyncLet, .concurrentFunction, .foreignActor, .foreignActorMakes, .foreignActorAwaits])
    func staysInBody(driver: Driver, way: Way) async throws {
        try await withLoopOnThread(driver) { loop in
            try loop.run(until: Future(on: loop) { try await CarryingTests.carry(way, loop) })
        }
    }

    @Test("the same where the loop is, by way of other threads", arguments: Driver.allCases)
    func stays(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let done = Future(on: loop) {
                let (future, holder) = (loop.succeeded(1), Holder(loop.makePromise(of: Int.self)))
                let two = await Task.detached { 2 }.value
                future.whenSuccess { holder.promise.succeed($0 + two) }
                return try await holder.promise.future.value
            }
            try expect(done, succeedsWith: 3)
        }
    }

    @Test("an executor knows its loop's thread", arguments: Driver.allCases)
    func knowsThread(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.checkIsolated()
            #expect(loop.isIsolatingCurrentContext() == true)
            let elsewhere = try onThread { loop.isIsolatingCurrentContext() }
            // A virtual loop may move there, and finds out when it is asked.
            #expect(elsewhere != true)
        }
    }

    @Test("assuming a loop's isolation on another thread, or checking it there", arguments: 0..<2)
    func assumedElsewhere(call: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            let pinned = Pinned(loop)
            try onThread { if call == 0 { pinned.assumeIsolated { _ in } } else { loop.checkIsolated() } }
        }
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            printed.contains("was used off its event loop's thread.")
                || printed.contains("Incorrect actor executor assumption"))
    }

    @Test(
        "a loop that another thread has taken over stays with that when the first one ends",
        arguments: Driver.allCases)
    func takenOver(driver: Driver) throws {
        let (taken, firstHasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        try onPlainThread {
            let loop = try driver.makeLoop()
            startThread(of: group) {
                do {
                    try loop.run()
                    taken.signal()
                    firstHasEnded.wait()
                    #expect(loop.isCurrent)
                    try expect(loop.submit { 1 }, succeedsWith: 1)
                    loop.shutdown()
                } catch {
                    Issue.record(error)
                }
            }
            taken.wait()
        }.get()
        firstHasEnded.signal()
        group.wait()
    }

    @Test("a thread lets go of what belongs to its loop when it ends")
    func letsGoAtItsEnd() async {
        await #expect(processExitsWith: .success) {
            try onPlainThread {
                let promise = EventLoop.virtual().makePromise(of: Int.self)
                var key = pthread_key_t()
                // Made after the loop's own key, whose turn is before.
                unsafe pthread_key_create(&key) { unsafe Unmanaged<Promise<Int>>.fromOpaque($0!).release() }
                unsafe pthread_setspecific(key, Unmanaged.passRetained(promise).toOpaque())
            }.get()
        }
    }

    @Test(
        "a thread that gets the identity of one that has ended does not get its loops",
        arguments: Driver.allCases)
    func reusedIdentity(driver: Driver) async {
        await #expect(processExitsWith: .success) { [driver] in
            let (loops, threads) = (SharedRecord<EventLoop>(), SharedRecord<pthread_t>())
            try onPlainThread {
                loops.add(try driver.makeLoop())
                threads.add(pthread_self())
            }.get()
            let loop = loops.entries[0]
            // The system hands stacks out again, and with them identities.
            let isReused = eventually {
                _ = onPlainThread {
                    #expect(!loop.isCurrent)
                    threads.add(pthread_self())
                }
                return threads.entries.last == threads.entries[0]
            }
            #expect(isReused)
            try onPlainThread {
                try loop.run()
                #expect(loop.isCurrent)
                try expect(loop.submit { 1 }, succeedsWith: 1)
                loop.shutdown()
            }.get()
        }
    }
}

/// Runs `body` on a thread of its own, and returns when that has ended, with all that it does at its end.
private func onPlainThread(_ body: @escaping @Sendable () throws -> Void) -> Result<Void, any Error> {
    final class Job: Sendable {
        let body: @Sendable () throws -> Void
        let result = Mutex<Result<Void, any Error>?>(nil)

        init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
    }
    let job = Job(body)
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, nil,
        { job in
            let job = unsafe Unmanaged<Job>.fromOpaque(job!).takeRetainedValue()
            let result = Result { try job.body() }
            job.result.withLock { $0 = result }
            return nil
        }, Unmanaged.passRetained(job).toOpaque())
    precondition(status == 0)
    pthread_join(thread, nil)
    return job.result.withLock { $0! }
}

private actor Pinned {
    private let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
}
