import Dispatch
import Futures
import TestSupport
import Testing

struct ValueTests {
    /// An actor that lives on a loop, and may use its futures.
    private actor Owner {
        let loop: EventLoop
        let seen = Record()
        var promise: Promise<Int>?

        init(_ loop: EventLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        /// Awaits `future` in a task, which notes what came of it.
        func await<Value>(_ future: Future<Value>) -> Task<Void, Never> {
            Task {
                do {
                    let value = try await future.value
                    seen.add(value)
                } catch is CancellationError {
                    seen.add("cancelled")
                } catch {
                    seen.add(error)
                }
                if !loop.isCurrent { Issue.record("resumed elsewhere") }
            }
        }
    }

    private func withOwner(_ driver: Driver, _ body: (isolated Owner) throws -> Void) throws {
        try withLoop(driver) { loop in try Owner(loop).assumeIsolated(body) }
    }

    @Test("value of a completed future returns without suspending", arguments: Driver.allCases)
    func completed(driver: Driver) throws {
        try withOwner(driver) { owner in
            let loop = owner.loop
            _ = owner.await(loop.succeeded(1))
            _ = owner.await(loop.failed(Failure(2), of: Int.self))
            _ = owner.await(loop.failed(CancellationError(), of: Int.self))
            let others = (0..<3).map { _ in loop.submit { owner.seen.add("other") } }
            try loop.run()
            #expect(owner.seen.entries == ["1", "Failure(code: 2)", "cancelled", "other", "other", "other"])
            #expect(others.count == 3)
        }
    }

    @Test("value of a pending future resumes on the loop, with each outcome", arguments: Driver.allCases)
    func pending(driver: Driver) throws {
        try withOwner(driver) { owner in
            let promises = (0..<3).map { _ in owner.loop.makePromise(of: Int.self) }
            for promise in promises { _ = owner.await(promise.future) }
            try settle(owner.loop)
            #expect(owner.seen.entries.isEmpty)
            promises[0].succeed(1)
            promises[1].fail(Failure(2))
            promises[2].cancel()
            #expect(owner.seen.entries.isEmpty)
            try owner.loop.run()
            #expect(owner.seen.entries == ["1", "Failure(code: 2)", "cancelled"])
        }
    }

    @Test("values need not be Sendable", arguments: Driver.allCases)
    func notSendable(driver: Driver) throws {
        try withOwner(driver) { owner in
            let promise = owner.loop.makePromise(of: Record.self)
            let record = Record()
            record.add("local")
            _ = owner.await(promise.future.map { $0.entries[0] })
            _ = owner.await(promise.future.map { [$0] }.map { _ in 1 })
            promise.succeed(record)
            try owner.loop.run()
            #expect(owner.seen.entries == ["local", "1"])
        }
    }

    @Test("a task that awaits keeps the loop running, and counts as a consumer", arguments: Driver.allCases)
    func keepsAlive(driver: Driver) throws {
        try withOwner(driver) { owner in
            let loop = owner.loop
            owner.promise = loop.makePromise()
            _ = owner.await(owner.promise!.future)
            try settle(loop)
            #expect(!owner.promise!.future.cancel())
            let group = DispatchGroup()
            startThread(of: group) {
                loop.execute { owner.assumeIsolated { _ = $0.promise!.succeed(1) } }
            }
            try loop.run()
            group.wait()
            #expect(owner.seen.entries == ["1"])
            owner.promise = nil
        }
    }

    @Test(
        "cancelling the task ends the wait and cancels a future that nobody else needs",
        arguments: Driver.allCases)
    func taskCancelled(driver: Driver) throws {
        try withOwner(driver) { owner in
            let loop = owner.loop
            let asked = Record()
            let (alone, shared) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            alone.onCancelRequest {
                asked.add("asked")
                return .cancel
            }
            shared.future.whenSuccess { asked.add($0) }
            let tasks = [owner.await(alone.future.map { $0 }), owner.await(shared.future)]
            try settle(loop)
            for task in tasks { task.cancel() }
            try loop.run()
            #expect(owner.seen.entries == ["cancelled", "cancelled"])
            #expect(asked.entries == ["asked"])
            #expect(alone.future.isCompleted)
            #expect(shared.succeed(2))
            try settle(loop)
            #expect(asked.entries == ["asked", "2"])
        }
    }

    @Test(
        "a task cancelled beforehand does not wait, but still gets what is there", arguments: Driver.allCases)
    func cancelledBefore(driver: Driver) throws {
        try withOwner(driver) { owner in
            let promise = owner.loop.makePromise(of: Int.self)
            owner.await(promise.future).cancel()
            owner.await(owner.loop.succeeded(1)).cancel()
            try owner.loop.run()
            #expect(owner.seen.entries.sorted() == ["1", "cancelled"])
            #expect("\(promise.future)" == "Future(cancelled)")
        }
    }

    @Test(
        "a cancelled task waits to the end for what ignores cancellation, and for nothing else",
        arguments: Driver.allCases, [false, true])
    func ignoresCancellation(driver: Driver, isBefore: Bool) throws {
        try withOwner(driver) { owner in
            let promises = (0..<3).map { _ in owner.loop.makePromise(of: Int.self) }
            let plain = owner.loop.makePromise(of: Int.self)
            let tasks =
                promises.map { owner.await($0.future.ignoringCancellation()) } + [owner.await(plain.future)]
            if !isBefore { try settle(owner.loop) }
            for task in tasks { task.cancel() }
            try settle(owner.loop)
            #expect(owner.seen.entries == ["cancelled"])
            promises[0].succeed(1)
            try settle(owner.loop)
            promises[1].fail(Failure(2))
            try settle(owner.loop)
            promises[2].cancel()
            try owner.loop.run()
            #expect(owner.seen.entries == ["cancelled", "1", "\(Failure(2))", "cancelled"])
        }
    }

    @Test("a completion and a cancellation at the same time resume the task once", arguments: Driver.allCases)
    func race(driver: Driver) throws {
        try withOwner(driver) { owner in
            let promise = owner.loop.makePromise(of: Int.self)
            let task = owner.await(promise.future)
            try settle(owner.loop)
            promise.succeed(1)
            task.cancel()
            try owner.loop.run()
            #expect(owner.seen.entries == ["1"])
        }
    }

    @Test(
        "a cancellation that comes after the end of its wait leaves a later wait alone",
        arguments: Driver.allCases)
    func lateCancellation(driver: Driver) throws {
        try withOwner(driver) { owner in
            let (first, second) = (owner.loop.makePromise(of: Int.self), owner.loop.makePromise(of: Int.self))
            let task = owner.await(first.future)
            try settle(owner.loop)
            first.succeed(1)
            _ = owner.await(second.future)
            task.cancel()
            try settle(owner.loop)
            #expect(owner.seen.entries == ["1"])
            second.succeed(2)
            try owner.loop.run()
            #expect(owner.seen.entries == ["1", "2"])
        }
    }

    @Test(
        "thousands of tasks wait at a time, again and again, and each is ended by its own cancellation only",
        arguments: Driver.allCases)
    func many(driver: Driver) throws {
        try withOwner(driver) { owner in
            let loop = owner.loop
            for round in 0..<3 {
                let promises = (0..<5000).map { _ in loop.makePromise(of: Int.self) }
                let tasks = promises.map { owner.await($0.future) }
                try settle(loop)
                for task in tasks[..<1000] { task.cancel() }
                try settle(loop)
                for (number, promise) in promises.enumerated().reversed() { promise.succeed(number) }
                try loop.run()
                let seen = owner.seen.entries.dropFirst(5000 * round)
                #expect(seen.prefix(1000).allSatisfy { $0 == "cancelled" })
                #expect(seen.dropFirst(1000).elementsEqual((1000..<5000).reversed().map { "\($0)" }))
            }
        }
    }

    @Test("shutdown ends the wait with shutDown", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withOwner(driver) { owner in
            let promise = owner.loop.makePromise(of: Int.self)
            _ = owner.await(promise.future)
            try settle(owner.loop)
            owner.loop.shutdown()
            #expect(owner.seen.entries == ["the event loop has been shut down; make a new one"])
        }
    }
}
