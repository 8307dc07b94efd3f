import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct RemotePromiseTests {
    @Test("another thread completes the future, on its loop, with each outcome", arguments: Driver.allCases)
    func outcomes(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makeRemotePromise(of: Int.self) }
            let seen = Record()
            for promise in promises {
                promise.future.whenComplete { result in
                    #expect(loop.isCurrent)
                    seen.add(result)
                }
            }
            let group = DispatchGroup()
            startThread(of: group) {
                #expect(promises[0].succeed(1))
                #expect(promises[1].fail(Failure(2)))
                #expect(promises[2].fail(CancellationError()))
            }
            try loop.run()
            group.wait()
            #expect(seen.entries == ["1", "failed: Failure(code: 2)", "cancelled"])
        }
    }

    @Test("on the loop's own thread it completes at once, as a promise does", arguments: Driver.allCases)
    func ownThread(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Void.self)
            #expect(!promise.future.isCompleted)
            #expect(promise.succeed())
            #expect(promise.future.isCompleted)
            #expect(!promise.succeed())
        }
    }

    @Test(
        "one that is dropped breaks the future, and names the place it was made at",
        arguments: Driver.allCases)
    func broken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let group = DispatchGroup()
            func makeAndDrop() -> Future<Int> {
                let promise = loop.makeRemotePromise(of: Int.self, file: "Here.swift", line: 7)
                let future = promise.future
                startThread(of: group) { withExtendedLifetime(promise) {} }
                return future
            }
            expect(makeAndDrop(), failsWith: FutureError.brokenPromise(file: "Here.swift", line: 7))
            group.wait()
        }
    }

    @Test("it keeps run going until it is completed, and no longer", arguments: Driver.allCases)
    func keepsAlive(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            let (group, start) = (DispatchGroup(), DispatchSemaphore(value: 0))
            startThread(of: group) {
                start.wait()
                promise.succeed(1)
            }
            loop.schedule(after: .ticks(1)) { start.signal() }
            try loop.run()
            #expect(promise.future.isCompleted)
            try loop.run()
            group.wait()
        }
    }

    @Test(
        "a future cancelled on the loop shows, asks the handler, and refuses the value",
        arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            let asked = Tally()
            promise.onCancelRequest {
                asked.add(loop.isCurrent ? 1 : 100)
                return .cancel
            }
            #expect(!promise.isCancelled)
            #expect(promise.future.map { $0 }.cancel())
            #expect(asked.sum == 1)
            let (wasCancelled, accepted) = try onThread { (promise.isCancelled, promise.succeed(1)) }
            #expect(wasCancelled)
            #expect(!accepted)
            try onThread {
                promise.onCancelRequest {
                    asked.add(loop.isCurrent ? 10 : 100)
                    return .cancel
                }
            }
            try loop.run()
            #expect(asked.sum == 11)
        }
    }

    @Test("a handler may go on, or complete the future itself", arguments: Driver.allCases)
    func handler(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            promise.onCancelRequest { .continue }
            #expect(promise.future.cancel())
            #expect(!promise.future.isCompleted)
            promise.onCancelRequest { .complete(.success(3)) }
            #expect(promise.future.cancel())
            try expect(promise.future, succeedsWith: 3)
            #expect(!promise.isCancelled)
        }
    }

    @Test("any thread makes one, and the loop finds its future", arguments: Driver.allCases)
    func madeElsewhere(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            let (values, handOver) = AsyncStream.makeStream(of: Int.self)
            loop.execute {
                promise.future.whenSuccess {
                    handOver.yield($0)
                    handOver.finish()
                }
            }
            promise.succeed(5)
            for await value in values { #expect(value == 5) }
        }
    }

    @Test("it completes with a future of another loop", arguments: Driver.allCases)
    func otherLoop(driver: Driver) async throws {
        try await withRunningLoop(driver) { other in
            try onThread {
                try withLoop(driver) { loop in
                    let promise = loop.makeRemotePromise(of: Int.self)
                    other.execute { promise.complete(using: other.submit { 4 }) }
                    try expect(promise.future, succeedsWith: 4)
                }
            }
        }
    }

    @Test("shutdown fails what is pending, and what comes later is refused", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            let seen = Record()
            promise.future.whenComplete { seen.add($0) }
            loop.shutdown()
            #expect(seen.entries == ["failed: the event loop has been shut down; make a new one"])
            let accepted = try onThread { promise.succeed(1) }
            #expect(!accepted)
            let late = makeElsewhere(loop)
            #expect(!late.succeed(1))
            #expect("\(late.future.ignoreFailure())".contains("shut down"))
        }
    }

    @Test("a future of another loop that is being shut down brings that failure", arguments: Driver.allCases)
    func shutdownOfOther(driver: Driver) throws {
        try withLoop(driver) { loop in
            let other = EventLoop.virtual()
            let promise = loop.makeRemotePromise(of: Int.self)
            #expect(promise.loop === loop)
            let promises = (0..<2).map { _ in other.makePromise(of: Int.self) }
            for (number, one) in promises.enumerated() {
                let next = promises[1 - number].future
                one.future.whenFailure { _ in promise.complete(using: next) }
            }
            other.shutdown()
            withExtendedLifetime(promises) {}
            expect(promise.future, failsWith: FutureError.shutDown)
        }
    }

    /// Made on another thread, which is over.
    func makeElsewhere(_ loop: EventLoop) -> RemotePromise<Int> {
        let (group, made) = (DispatchGroup(), SharedRecord<RemotePromise<Int>>())
        startThread(of: group) { made.add(loop.makeRemotePromise()) }
        group.wait()
        return made.entries[0]
    }
}
