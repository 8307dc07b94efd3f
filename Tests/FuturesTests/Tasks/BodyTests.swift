import Futures
import FuturesTesting
import TestSupport
import Testing

/// Cancelling the future of a body reaches what the body awaits before it returns.
struct BodyTests {
    /// Who awaits, between the body and the promise.
    enum Way: String, CaseIterable {
        case plain, captureList, derived, anotherBody, sequence, promise
        case pinnedActor, isolatedToNothing, asyncLet, taskGroup
    }

    @Test(
        "cancelling a body on its loop cancels what it awaits before it returns", arguments: Driver.allCases,
        Way.allCases)
    func atOnce(driver: Driver, way: Way) async throws {
        try await withLoopOnThread(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = body(way, awaiting: promise.future, on: loop)
            let hasBegun = eventually {
                try? settle(loop)
                return promise.future.debugDescription.contains("1 waiting")
            }
            #expect(hasBegun)
            let job = loop.submit {
                #expect(future.cancel())
                #expect(promise.future.isCancelled)
                #expect(!promise.succeed(1))
            }
            try loop.run(until: job)
            try loop.run()
        }
    }

    @Test("a body that is cancelled goes on after the call that cancels it", arguments: Driver.allCases)
    func afterTheCall(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let future = Future<Void>(on: loop) {
                do { try await loop.sleep(for: .seconds(1000)).value } catch { seen.add("body") }
            }
            try settle(loop)
            try loop.run(
                until: loop.submit {
                    future.cancel()
                    seen.add("callback")
                })
            try loop.run()
            #expect(seen.entries == ["callback", "body"])
        }
    }

    @Test(
        "of two bodies that await a future, only the one that is cancelled throws", arguments: Driver.allCases
    )
    func oneOfTwo(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let seen = Record()
            let bodies = (0..<2).map { number in
                Future(on: loop) {
                    do { seen.add("\(number): \(try await promise.future.value)") } catch {
                        seen.add("\(number): \(error)")
                    }
                }
            }
            try settle(loop)
            #expect(bodies[0].cancel())
            #expect(!promise.future.isCancelled)
            try settle(loop)
            promise.succeed(1)
            try loop.run()
            #expect(seen.entries == ["0: CancellationError()", "1: 1"])
        }
    }

    @Test(
        "a body that is cancelled gets no value that comes afterwards, though it has not gone on yet",
        arguments: Driver.allCases)
    func lateValue(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            for _ in 0..<2 {
                let promise = loop.makePromise(of: Int.self)
                let other = promise.future.map { $0 }
                var caught: (any Error)?
                let body = Future<Void>(on: loop) {
                    do { _ = try await promise.future.value } catch { caught = error }
                }
                try settle(loop)
                #expect(body.cancel())
                #expect(promise.succeed(1))
                try expect(other, succeedsWith: 1)
                try loop.run()
                #expect(caught is CancellationError)
            }
        }
    }

    @Test(
        "a task elsewhere that is cancelled ends its wait in the loop's next turn", arguments: Driver.allCases
    )
    func fromElsewhere(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            // The task's closure is released on another thread.
            nonisolated(unsafe) weak let held = promise
            let task = Task {
                try await loop.run {
                    loop.stop()
                    return unsafe held!.future
                }
            }
            loop.core.hold()
            try loop.run()
            loop.core.letGo()
            try onThread { task.cancel() }
            #expect(!promise.future.isCancelled)
            try settle(loop)
            #expect(promise.future.isCancelled)
            #expect(!promise.succeed(1))
        }
    }

    private func body(_ way: Way, awaiting awaited: Future<Int>, on loop: EventLoop) -> Future<Void> {
        nonisolated(unsafe) let future = awaited
        switch way {
        case .plain: return Future(on: loop) { _ = try await awaited.value }
        case .captureList: return Future(on: loop) { [awaited] in _ = try await awaited.value }
        case .derived: return Future(on: loop) { _ = try await awaited.map { $0 + 1 }.value }
        case .anotherBody:
            return Future(on: loop) { _ = try await Future(on: loop) { try await awaited.value }.value }
        case .sequence: return Future(on: loop) { for try await _ in awaited.values {} }
        case .promise:
            let promise = loop.makePromise(of: Void.self)
            promise.complete(awaiting: { _ = try await awaited.value })
            return promise.future
        case .pinnedActor:
            let pinned = Pinned(loop)
            return Future(on: loop) { try await unsafe pinned.wait(for: future) }
        case .isolatedToNothing: return Future(on: loop) { @concurrent in _ = try await unsafe future.value }
        case .asyncLet:
            return Future(on: loop) {
                async let value = unsafe future.value
                _ = try await value
            }
        case .taskGroup:
            return Future(on: loop) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await unsafe future.value }
                    try await group.waitForAll()
                }
            }
        }
    }

    private actor Pinned {
        private let loop: EventLoop
        init(_ loop: EventLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        func wait(for future: sending Future<Int>) async throws { _ = try await future.value }
    }
}
