import FuturesTesting
import Synchronization
import TestSupport
import Testing
import UVFutures

@testable import Futures

/// What a program holds of a loop that it lets go of without `shutdown()`.
struct OwnerTests {
    @Test("a loop that is let go of fails what is pending, once, and goes", arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        let (seen, released) = (Record(), Tally())
        weak var core: LoopCore?
        do {
            let loop = try driver.makeLoop()
            core = loop.core
            for (name, future) in pending(on: loop) {
                future.whenFailure { seen.add("\(name): \($0 as? FutureError == .shutDown)") }
            }
            let witness = Witness { released.add() }
            loop.schedule(after: .seconds(1000)) { witness.look() }.future.ignoreFailure()
        }
        let names = ["promise", "timer", "sleep", "forever", "all", "body", "remote", "line", "follower"]
        #expect(Set(seen.entries) == Set(names.map { "\($0): true" }))
        #expect(seen.entries.count == names.count)
        #expect(released.sum == 1)
        #expect(core == nil)
    }

    /// One pending future of each kind, none of which anything else completes. Who holds them is the loop alone.
    private func pending(on loop: EventLoop) -> [(String, Future<Void>)] {
        let promise = loop.makePromise(of: Void.self)
        // Held by its own future, as by a callback that is to complete it.
        promise.future.whenComplete { _ in withExtendedLifetime(promise) {} }
        let remote = loop.makeRemotePromise(of: Void.self)
        remote.future.whenComplete { _ in withExtendedLifetime(remote) {} }
        let event = FutureEvent(on: loop)
        loop.core.sleep(for: .seconds(1000)).whenComplete { _ in withExtendedLifetime(event) {} }
        return [
            ("promise", promise.future),
            ("timer", loop.schedule(after: .seconds(1000)) {}.future),
            ("sleep", loop.sleep(for: .seconds(1000))),
            ("forever", loop.never()),
            ("all", Future.all([promise.future, loop.sleep(for: .seconds(1000))]).map { _ in }),
            (
                "body",
                Future(on: loop) { [core = loop.core] in try await core.sleep(for: .seconds(1000)).value }
            ),
            ("remote", remote.future),
            ("line", event.wait()),
            ("follower", promise.future.flatMap { promise.future }),
        ]
    }

    @Test("what is held of a loop that was let go of says that it is shut down", arguments: Driver.allCases)
    func afterwards(driver: Driver) throws {
        weak var core: LoopCore?
        do {
            var loop = Optional(try driver.makeLoop())
            core = loop?.core
            let promise = loop!.makePromise(of: Int.self)
            let (succeeded, remote) = (loop!.succeeded(7), loop!.makeRemotePromise(of: Int.self))
            let handle = promise.future.loop
            #expect(handle == loop)
            loop = nil
            #expect(isShutDown(promise.future))
            #expect(!promise.succeed(1))
            #expect(try succeeded.result?.get() == 7)
            #expect(isShutDown(succeeded.map { $0 + 1 }))
            #expect(isShutDown(remote.future))
            #expect(!remote.succeed(1))
            #expect(!handle.execute {})
            #expect(isShutDown(handle.sleep(for: .zero)))
            #expect(throws: FutureError.shutDown) { try handle.run() }
        }
        #expect(core == nil)
    }

    @Test(
        "what was made on a loop does not keep it, though a callback holds that", arguments: Driver.allCases)
    func holders(driver: Driver) throws {
        let kinds: [(String, (EventLoop) throws -> Any)] = [
            ("promise", { $0.makePromise(of: Int.self) }), ("future", { $0.sleep(for: .seconds(1)) }),
            ("remote promise", { $0.makeRemotePromise(of: Int.self) }),
            ("context", { RemoteContext.loop($0) }), ("token", { CancellationSource(on: $0) }),
            ("semaphore", { FutureSemaphore(count: 1, on: $0) }), ("mutex", { FutureMutex(on: $0) }),
            ("lock", { FutureReadWriteLock(on: $0) }), ("event", { FutureEvent(on: $0) }),
            ("latch", { FutureLatch(count: 1, on: $0) }),
            ("condition", { FutureCondition(on: $0) }), ("gate", { FutureGate(on: $0) }),
            ("barrier", { FutureBarrier(parties: 2, on: $0) }),
            ("queue", { FutureQueue(on: $0) }), ("channel", { FutureChannel<Int>(capacity: 1, on: $0) }),
            ("cache", { FutureCache<Int, Int>(on: $0) }), ("flight", { SingleFlight<Int>(on: $0) }),
            ("flights", { KeyedSingleFlight<Int, Int>(on: $0) }),
            ("sequence", { $0.ticks(every: .seconds(1)) }),
            ("ticks", { $0.ticks(every: .seconds(1)).makeAsyncIterator() }),
            ("completions", { Future.inCompletionOrder([$0.sleep(for: .seconds(1))]).makeAsyncIterator() }),
            (
                "mapped",
                {
                    $0.ticks(every: .seconds(1)).mapFuture { [core = $0.core] _ in core.succeeded(1) }
                        .makeAsyncIterator()
                }
            ),
            ("debounced", { $0.debounce(for: .seconds(1)) {} }), ("current", { $0.succeeded().loop }),
            (
                "recipe",
                { loop in
                    Deferred { [core = loop.core] in core.sleep(for: .seconds(1)) }
                        .repeatAndCollect(repetitions: 2, delay: .zero).start(on: loop)
                }
            ),
            ("repetition", { $0.repeat(every: .seconds(1)) {} }),
            (
                "retry",
                { loop in loop.retry(attempts: 2) { [core = loop.core] _ in core.never(of: Int.self) } }
            ),
            (
                "traversal",
                { loop in loop.traverse([1]) { [core = loop.core] _ in core.never(of: Int.self) } }
            ),
            ("empty scope", { FutureScope(on: $0) }),
            (
                "scope",
                { loop in
                    let scope = FutureScope(on: loop, within: .seconds(2000))
                    scope.add(loop.sleep(for: .seconds(1000)))
                    return scope
                }
            ),
            ("dropped scope", { FutureScope(on: $0).count }),
            ("streams", { try MemoryStream.pair(on: $0) }),
        ]
        for (name, make) in kinds {
            weak var core: LoopCore?
            do {
                let loop = try driver.makeLoop()
                core = loop.core
                loop.onUnhandledFailure = { _ in }
                let holder = try make(loop)
                loop.sleep(for: .seconds(1000)).whenComplete { _ in withExtendedLifetime(holder) {} }
            }
            #expect(core == nil, "\(name)")
        }
    }

    @Test("a callback may let go of the loop that runs it, which then ends", arguments: Driver.allCases)
    func withinCallback(driver: Driver) throws {
        let seen = Record()
        weak var core: LoopCore?
        do {
            var loop = Optional(try driver.makeLoop())
            core = loop?.core
            let handle = loop!.succeeded().loop
            loop!.sleep(for: .seconds(1000)).whenComplete { seen.add($0) }
            loop!.sleep(for: .ticks(1)).whenSuccess {
                loop = nil
                seen.add("goes on")
            }
            try handle.run()
        }
        #expect(seen.entries == ["goes on", "failed: \(FutureError.shutDown)"])
        #expect(core == nil)
    }

    @Test("a loop that goes in the middle of a change ends when that has ended", arguments: Driver.allCases)
    func withinChange(driver: Driver) throws {
        let seen = Record()
        weak var core: LoopCore?
        var kept: Promise<Int>?
        do {
            let loop = try driver.makeLoop()
            core = loop.core
            kept = loop.makePromise()
            // The last that holds the loop is a closure that is not called.
            kept?.future.whenSuccess { _ in withExtendedLifetime(loop) {} }
            kept?.future.whenFailure { seen.add($0) }
            let timer = loop.sleep(for: .seconds(1000))
            timer.whenFailure { seen.add($0) }
            timer.map {}.whenFailure { seen.add("map: \($0)") }
        }
        kept?.fail(Failure(2))
        let shutDown = FutureError.shutDown
        #expect(Set(seen.entries) == ["\(Failure(2))", "\(shutDown)", "map: \(shutDown)"])
        kept = nil
        #expect(core == nil)
    }

    @Test(
        "a callback that runs at once and lets go of its loop is not interrupted", arguments: Driver.allCases)
    func atOnce(driver: Driver) throws {
        let seen = Record()
        weak var core: LoopCore?
        do {
            var loop = Optional(try driver.makeLoop())
            core = loop?.core
            let promise = loop!.makePromise(of: Int.self)
            loop!.sleep(for: .seconds(1000)).whenFailure { seen.add($0) }
            promise.future.whenSuccess(on: .immediate) { _ in
                loop = nil
                seen.add("the callback is over")
            }
            promise.succeed(1)
        }
        #expect(seen.entries == ["the callback is over", "\(FutureError.shutDown)"])
        #expect(core == nil)
    }

    @Test(
        "who blocks for a loop that a callback lets go of hears that it is shut down",
        arguments: Driver.allCases)
    func waiter(driver: Driver) throws {
        var loop = Optional(try driver.makeLoop())
        let handle = loop!.core
        let outcome = SharedRecord<String>()
        startThread {
            try handle.wait { handle.never(of: Int.self) }
        } ended: { (result: Result<Int, any Error>) in
            outcome.add("\(result)")
        }
        #expect(eventually { handle.inbox.wakeUps > 0 })
        loop!.sleep(for: .ticks(1)).whenSuccess { loop = nil }
        try handle.run()
        #expect(eventually { !outcome.entries.isEmpty })
        #expect(outcome.entries == ["failure(\(FutureError.shutDown))"])
    }

    @Test("a loop that is shut down, or on which nothing is alive, may be let go of anywhere")
    func elsewhere() throws {
        for isShutDown in [true, false] {
            weak var core: LoopCore?
            do {
                let loop = try onThread {
                    let loop = try EventLoop()
                    if isShutDown {
                        loop.sleep(for: .seconds(1)).ignoreFailure()
                        loop.shutdown()
                    }
                    return loop
                }
                core = loop.core
            }
            // The thread lets go of it a moment after it has said so.
            #expect(eventually { core == nil })
        }
    }

    @Test("a loop whose thread has ended may be let go of anywhere, and what is alive on it fails")
    func afterItsThread() throws {
        let seen = Tally()
        weak var core: LoopCore?
        do {
            let loop = try onThread {
                let loop = try EventLoop()
                loop.sleep(for: .seconds(1000)).whenFailure { _ in seen.add() }
                return loop
            }
            core = loop.core
            // The thread ends a moment after it has said so.
            #expect(eventually { loop.core.home.thread.load(ordering: .relaxed) == 0 })
        }
        #expect(seen.sum == 1)
        #expect(core == nil)
    }

    @Test("a build for debugging says what ended with a loop that was let go of, and others do not")
    func isReported() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            loop.sleep(for: .seconds(1000)).map {}.ignoreFailure()
            // On virtual time nothing waits for the end, and without anything alive nothing is lost.
            EventLoop.virtual().sleep(for: .seconds(1)).ignoreFailure()
            _ = try EventLoop().succeeded()
        }
        #if DEBUG
            let line = """
                An event loop was released without shutdown(), with 2 futures and 0 handles alive on it, \
                which end now. Keep the EventLoop object as long as you need it, and then call shutdown().

                """
        #else
            let line = ""
        #endif
        #expect(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) == line)
    }

    @Test(
        "a loop that is let go of on another thread, with something alive on it, traps",
        arguments: [false, true])
    func onAnotherThread(isHandle: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isHandle] in
            var loop = Optional(try EventLoop())
            let promise = isHandle ? nil : loop!.makePromise(of: Int.self)
            if isHandle { loop!.core.count(handles: 1) }
            let taken = Locked(loop.take())
            try onThread { taken.withLock { $0 = nil } }
            promise?.succeed(1)
        }
        let alive = isHandle ? "0 futures and 1 handles" : "1 futures and 0 handles"
        let sentence = """
            An event loop was released on another thread than its own, with \(alive) alive on it. Call \
            shutdown() on its thread before, or release it there. Perhaps a closure on another thread held \
            the last reference to it.
            """
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(sentence))
    }

    private func isShutDown<Value>(_ future: Future<Value>) -> Bool {
        guard case .failure(let error) = future.result else { return false }
        return error as? FutureError == .shutDown
    }
}
