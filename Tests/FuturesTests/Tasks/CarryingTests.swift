import Futures
import FuturesTesting
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

    final class Holder {
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
    static func carry(_ way: Way, _ loop: EventLoop) async throws {
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
        let place =
            way == .foreignActorMakes
            ? "in an actor that does not run on its event loop." : "on a thread of Swift's pool:"
        #expect(printed.contains("This future, promise or timer was used \(place)"))
    }
}
