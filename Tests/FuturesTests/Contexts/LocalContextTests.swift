import Futures
import TestSupport
import Testing

struct LocalContextTests {
    private static let contexts: [LocalContext] = [.loop, .immediate, .nextTurn, .whenIdle]

    @Test(
        "each method runs its callback once, on the context it was given, for the outcomes it wants",
        arguments: Driver.allCases, RegisteringMethod.allCases)
    func everyMethod(driver: Driver, method: RegisteringMethod) throws {
        try withLoop(driver) { loop in
            for context in Self.contexts {
                for outcome in Outcome.allCases {
                    for isEarly in [true, false] {
                        let seen = Record()
                        let promise = loop.makePromise(of: Int.self)
                        promise.future.ignoreFailure()
                        if !isEarly { outcome.complete(promise) }
                        method.register(on: promise.future, context: context) {
                            seen.add(loop.currentContext)
                        }?.ignoreFailure()
                        if isEarly {
                            #expect(seen.entries.isEmpty)
                            outcome.complete(promise)
                        }
                        let expected = method.wanted.contains(outcome) ? ["\(context)"] : []
                        #expect(seen.entries == (context == .immediate ? expected : []))
                        try settle(loop)
                        if context == .loop { #expect(seen.entries == expected) }
                        try pass(.ticks(1), on: loop)
                        #expect(seen.entries == expected)
                    }
                }
            }
        }
    }

    @Test(
        "callbacks at once come first, then ready ones, those of the next turn, and idle ones",
        arguments: Driver.allCases)
    func orderOfContexts(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for round in 1...2 {
                for context in Self.contexts.reversed() {
                    promise.future.whenSuccess(on: context) { _ in seen.add("\(context) \(round)") }
                }
            }
            promise.succeed(1)
            seen.add("succeeded")
            try pass(.ticks(1), on: loop)
            #expect(
                seen.entries == [
                    "immediate 1", "immediate 2", "succeeded", "loop 1", "loop 2", "nextTurn 1", "nextTurn 2",
                    "whenIdle 1", "whenIdle 2",
                ])
        }
    }

    // MARK: At once

    @Test(
        "a chain at once has run to its end when the promise has been completed", arguments: Driver.allCases)
    func immediateChain(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.map(on: .immediate) { $0 + 1 }
                .flatMap(on: .immediate) { loop.succeeded($0 * 10) }
                .filter(on: .immediate) { $0 > 0 }
            promise.succeed(1)
            #expect("\(future)" == "Future(success: 20)")
            let late = future.map(on: .immediate) { $0 + 1 }
            #expect("\(late)" == "Future(success: 21)")
        }
    }

    @Test(
        "callbacks at once are nested twenty deep, and the deeper ones run from the queue",
        arguments: Driver.allCases)
    func depthGuard(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0...25).map { _ in loop.makePromise(of: Int.self) }
            var depth = 0
            var depths: [Int] = []
            for (promise, next) in zip(promises, promises.dropFirst()) {
                promise.future.whenSuccess(on: .immediate) { _ in
                    depth += 1
                    depths.append(depth)
                    next.succeed(1)
                    depth -= 1
                }
            }
            promises[0].succeed(1)
            #expect(depths == Array(1...20))
            try settle(loop)
            #expect(depths == Array(1...20) + [1, 2, 3, 4, 5])
        }
    }

    @Test("a long chain of callbacks at once needs little stack", arguments: Driver.allCases)
    func longImmediateChain(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var future = promise.future
            for _ in 0..<largeCount { future = future.map(on: .immediate) { $0 + 1 } }
            promise.succeed(0)
            try expect(future, succeedsWith: largeCount)
        }
    }

    @Test("all has changed when a callback runs at once", arguments: Driver.allCases)
    func immediateSeesTheWholeChange(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let first = loop.makePromise(of: Int.self)
            let second = loop.makePromise(of: Int.self)
            let winner = Future.race([first.future, second.future])
            winner.whenComplete(on: .immediate) { _ in seen.add("\(winner), \(second.future)") }
            first.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["Future(success: 1), Future(cancelled)"])
        }
    }

    @Test(
        "cancelling a chain runs callbacks at once when all of it has been cancelled",
        arguments: Driver.allCases)
    func immediateOnCancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var end: Future<Int>?
            let always = promise.future.always(on: .immediate) { seen.add("\(end!)") }
            end = always.map { $0 }
            #expect(end!.cancel())
            #expect(seen.entries == ["Future(cancelled)"])
            #expect(!promise.succeed(1))
        }
    }

    @Test("callbacks at once may register, complete, cancel and drop", arguments: Driver.allCases)
    func immediateReentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            let future = promise!.future
            let other = loop.makePromise(of: Int.self)
            let doomed = other.future.map { $0 }
            var own: Future<Int>?
            own = future.map(on: .immediate) { value in
                promise = nil
                doomed.cancel()
                own!.cancel()
                future.whenSuccess(on: .immediate) { seen.add("again \($0)") }
                future.whenSuccess { seen.add("queued \($0)") }
                return value
            }
            future.whenSuccess(on: .immediate) { seen.add("next \($0)") }
            promise!.succeed(1)
            #expect("\(doomed)" == "Future(cancelled)")
            #expect("\(own!)" == "Future(cancelled)")
            try settle(loop)
            #expect(seen.entries == ["next 1", "again 1", "queued 1"])
        }
    }

    /// What a callback does to bring about others, some of them of its own future.
    enum Trigger: CaseIterable {
        case nothing, completes, cancels, drops, registers, registersByAnother, cancelsToken
    }

    @Test(
        "callbacks of one future never overlap, and run in the order in which they were registered",
        arguments: Driver.allCases, Trigger.allCases)
    func noOverlap(driver: Driver, trigger: Trigger) throws {
        try withLoop(driver) { loop in
            for context in Self.contexts {
                for isMixed in [false, true] {
                    let seen = Record()
                    var isCalling = false
                    let promise = loop.makePromise(of: Int.self)
                    var third: Promise<Int>? = loop.makePromise(of: Int.self)
                    let source = CancellationSource(on: loop)
                    func callback(_ name: String, _ body: @escaping () -> Void = {}) -> (Any) -> Void {
                        { _ in
                            #expect(!isCalling, "\(name) on \(context)")
                            isCalling = true
                            seen.add(name)
                            body()
                            isCalling = false
                        }
                    }
                    func register(_ name: String) {
                        promise.future.whenSuccess(on: .immediate, callback(name))
                    }
                    third!.future.whenComplete(on: .immediate) { _ in
                        seen.add("third")
                        if trigger == .registersByAnother { register("late") }
                    }
                    source.token.onCancel(on: .immediate) { register("late") }
                    promise.future.whenSuccess(
                        on: context,
                        callback("first") {
                            switch trigger {
                            case .nothing: break
                            case .completes, .registersByAnother: third!.succeed(1)
                            case .cancels: third!.cancel()
                            case .drops: third = nil
                            case .registers: register("late")
                            case .cancelsToken: source.cancel()
                            }
                        })
                    promise.future.whenSuccess(on: isMixed ? .immediate : context, callback("second"))
                    promise.succeed(1)
                    try pass(.ticks(1), on: loop)
                    let expected =
                        switch trigger {
                        case .nothing: ["first", "second"]
                        case .completes, .cancels, .drops: ["first", "third", "second"]
                        case .registersByAnother: ["first", "third", "second", "late"]
                        case .registers, .cancelsToken: ["first", "second", "late"]
                        }
                    // What runs at once runs before what does not.
                    if context == .immediate { #expect(seen.entries == expected) }
                    #expect(seen.entries.sorted() == expected.sorted())
                    third = nil
                    try settle(loop)
                }
            }
        }
    }

    @Test(
        "a callback that completes another future is interrupted by the callbacks of that one alone",
        arguments: Driver.allCases)
    func nestedCompletion(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            for (index, promise) in promises.enumerated() {
                for name in ["a", "b"] {
                    promise.future.whenSuccess(on: .immediate) { _ in
                        seen.add("\(index)\(name)")
                        if name == "a", index < 3 { promises[index + 1].succeed(1) }
                        // Too late: of a future whose callbacks run.
                        promises[0].future.whenSuccess(on: .immediate) { _ in seen.add("late \(index)\(name)")
                        }
                        seen.add("end of \(index)\(name)")
                    }
                }
            }
            promises[0].succeed(1)
            #expect(
                seen.entries == [
                    "0a", "1a", "2a", "3a", "end of 3a", "3b", "end of 3b", "end of 2a", "2b", "end of 2b",
                    "end of 1a", "1b", "end of 1b", "end of 0a", "0b", "end of 0b",
                    "late 3a", "late 3b", "late 2a", "late 2b", "late 1a", "late 1b", "late 0a", "late 0b",
                ])
        }
    }

    @Test("a callback at once hears of a promise that is dropped", arguments: Driver.allCases)
    func immediateOnDrop(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            promise!.future.whenFailure(on: .immediate) { _ in seen.add("broken") }
            promise = nil
            #expect(seen.entries == ["broken"])
        }
    }

    @Test("a callback at once knows its loop outside of run too", arguments: Driver.allCases)
    func immediateKnowsItsLoop(driver: Driver) throws {
        try withLoop(driver) { loop in
            let empty = loop.succeeded(1).flatMap(on: .immediate) { _ in Future<Int>.all([]) }
            #expect("\(empty)" == "Future(success: [])")
            #expect(EventLoop.current == nil)
        }
    }

    // MARK: Later

    @Test(
        "a callback of the next turn runs after the driver has polled once",
        arguments: Driver.allCases)
    func nextTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            nonisolated(unsafe) let jobs = seen
            let turns = loop.submit {
                loop.submit(on: .nextTurn) {
                    seen.add("next turn")
                    return loop.statistics.turns
                }.tap { _ in seen.add("end") }
            }
            let start = loop.submit {
                // Heard of by polling only.
                try onThread { _ = loop.execute { unsafe jobs.add("polled") } }
                loop.submit { seen.add("ready") }.whenComplete { _ in }
                return loop.statistics.turns
            }
            let first = try loop.run(until: start)
            let second = try loop.run(until: turns.flatMap { $0 })
            #expect(seen.entries == ["ready", "polled", "next turn", "end"])
            #expect(second - first <= 3)
        }
    }

    @Test("callbacks of the next turn that go on for ever starve nobody", arguments: Driver.allCases)
    func endlessTurns(driver: Driver) throws {
        try withLoop(driver) { loop in
            let before = loop.statistics.turns
            var runs = 0
            func again() {
                loop.submit(on: .nextTurn) {
                    runs += 1
                    if runs < 20_000 { again() }
                }.whenComplete { _ in }
            }
            again()
            for _ in 0..<10_000 { loop.submit(on: .nextTurn) { runs += 1 }.whenComplete { _ in } }
            try pass(.ticks(1), on: loop)
            try loop.run()
            #expect(runs >= 20_000)
            #expect(loop.statistics.turns - before >= 10_000)
        }
    }

    @Test(
        "an idle callback waits until nothing else is ready, and lets what it starts run first",
        arguments: Driver.allCases)
    func whenIdle(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var rounds = 0
            func keepBusy() {
                rounds += 1
                seen.add("busy")
                if rounds < 3 { loop.submit(on: .nextTurn, keepBusy).whenComplete { _ in } }
            }
            loop.submit(on: .whenIdle) {
                seen.add("idle 1")
                loop.submit(on: .nextTurn) { seen.add("started") }.whenComplete { _ in }
            }.whenComplete { _ in }
            loop.submit(on: .whenIdle) { seen.add("idle 2") }.whenComplete { _ in }
            loop.submit(keepBusy).whenComplete { _ in }
            // Without a timer: what waits for idleness keeps the loop running.
            try loop.run()
            #expect(seen.entries == ["busy", "busy", "busy", "idle 1", "started", "idle 2"])
        }
    }

    @Test("an idle callback waits as long as polling finds something", arguments: Driver.allCases)
    func idleAfterPolling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = SharedRecord<String>()
            @Sendable func poll(_ times: Int) throws {
                _ = try onThread {
                    loop.execute {
                        seen.add("polled")
                        if times > 1 { #expect(throws: Never.self) { try poll(times - 1) } }
                    }
                }
            }
            loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
            try loop.run(until: loop.submit { try poll(3) })
            try loop.run()
            #expect(seen.entries == ["polled", "polled", "polled", "idle"])
        }
    }

    @Test("shutting down runs what waits for another turn", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for context in Self.contexts {
                promise.future.whenFailure(on: context) { _ in seen.add(context) }
                loop.submit(on: context) { seen.add("submitted \(context)") }.whenComplete { _ in }
            }
            #expect(seen.entries == ["submitted immediate"])
            loop.shutdown()
            #expect(
                Set(seen.entries)
                    == Set(Self.contexts.flatMap { ["\($0)", "submitted \($0)"] }))
            #expect(seen.entries.count == 8)
            let late = Self.contexts.map { context in loop.submit(on: context) { seen.add("late") } }
            for future in late { expect(future, failsWith: FutureError.shutDown) }
            #expect(seen.entries.count == 8)
            withExtendedLifetime(promise) {}
        }
    }

    @Test(
        "a queued callback of any context is released unrun when its future is cancelled",
        arguments: Driver.allCases)
    func cancelQueued(driver: Driver) throws {
        try withLoop(driver) { loop in
            for context in [LocalContext.loop, .nextTurn, .whenIdle] {
                var isReleased = false
                let future: Future<Void>
                do {
                    let witness = Witness { isReleased = true }
                    future = loop.submit(on: context) { witness.look() }
                }
                #expect(future.cancel())
                #expect(isReleased)
                try pass(.ticks(1), on: loop)
                expectCancelled(future)
            }
        }
    }

    // MARK: Which one

    @Test(
        "without a context a callback runs on the loop's default at registration", arguments: Driver.allCases)
    func defaultContext(driver: Driver) throws {
        try withLoop(driver) { loop in
            #expect(loop.defaultContext == .loop)
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for context in Self.contexts {
                loop.defaultContext = context
                promise.future.whenSuccess { _ in seen.add("\(context): \(loop.currentContext)") }
                promise.future.whenSuccess(on: .loop) { _ in
                    seen.add("\(context), given: \(loop.currentContext)")
                }
            }
            loop.defaultContext = .default
            #expect(loop.defaultContext == .loop)
            promise.succeed(1)
            try pass(.ticks(1), on: loop)
            let given = Self.contexts.map { "\($0), given: loop" }
            #expect(
                Set(seen.entries) == Set(Self.contexts.map { "\($0): \($0)" } + given))
            #expect(seen.entries.count == 8)
        }
    }

    @Test(
        "the current context is that of the callback that registers, and the ready queue outside of callbacks",
        arguments: Driver.allCases)
    func currentContext(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenSuccess(on: .current) { _ in seen.add("outside: \(loop.currentContext)") }
            for context in Self.contexts {
                loop.submit(on: context) {
                    promise.future.whenSuccess(on: .current) { _ in
                        seen.add("\(context): \(loop.currentContext)")
                    }
                }.whenComplete { _ in }
            }
            #expect(loop.currentContext == .loop)
            try pass(.ticks(1), on: loop)
            promise.succeed(1)
            try pass(.ticks(1), on: loop)
            #expect(
                seen.entries == [
                    "immediate: immediate", "outside: loop", "loop: loop", "nextTurn: nextTurn",
                    "whenIdle: whenIdle",
                ])
        }
    }

    @Test(
        "with the current context as default, what a callback starts stays where it runs",
        arguments: Driver.allCases)
    func currentAsDefault(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.defaultContext = .current
            #expect(loop.defaultContext == .current)
            let seen = Record()
            loop.submit(on: .immediate) {
                let inner = loop.succeeded(1).map { _ in seen.add(loop.currentContext) }
                #expect(inner.isCompleted)
            }.whenComplete { _ in }
            loop.submit(on: .nextTurn) {
                loop.succeeded(1).whenSuccess { _ in seen.add(loop.currentContext) }
            }.whenComplete { _ in }
            loop.submit { seen.add(loop.currentContext) }.whenComplete { _ in }
            #expect(seen.entries == ["immediate"])
            try pass(.ticks(2), on: loop)
            #expect(seen.entries == ["immediate", "loop", "nextTurn"])
        }
    }

    @Test("an outcome that no callback wants passes at once on any context", arguments: Driver.allCases)
    func passThrough(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var future = promise.future
            for context in Self.contexts { future = future.map(on: context) { $0 } }
            promise.fail(Failure(1))
            #expect(future.isCompleted)
            expect(future, failsWith: Failure(1))
        }
    }

    @Test("contexts are equal to themselves only, and say their names")
    func identity() {
        let all = Self.contexts + [.current, .default]
        #expect(Set(all).count == all.count)
        #expect(
            all.map { "\($0)" } == ["loop", "immediate", "nextTurn", "whenIdle", "current", "default"])
    }

    @Test("submit runs its body on the context, and fails with what that throws", arguments: Driver.allCases)
    func submit(driver: Driver) throws {
        try withLoop(driver) { loop in
            for context in Self.contexts {
                try expect(loop.submit(on: context) { loop.currentContext }, succeedsWith: context)
                expect(loop.submit(on: context) { throw Failure(1) }, failsWith: Failure(1))
            }
            #expect(loop.submit(on: .immediate) { 1 }.isCompleted)
            #expect(!loop.submit { 1 }.isCompleted)
        }
    }

    @Test(
        "work after a while, or again and again, can run on a context and be cancelled",
        arguments: Driver.allCases)
    func delayed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let later = loop.sleep(for: .ticks(2)).map(on: .immediate) { seen.add(loop.currentContext) }
            let never = loop.sleep(for: .ticks(1)).map(on: .nextTurn) { seen.add("never") }
            #expect(never.cancel())
            let source = CancellationSource(on: loop)
            loop.repeat(every: .ticks(1), token: source.token) {
                seen.add("again")
                if seen.entries.count == 3 { source.cancel() }
            }
            try loop.run()
            #expect(later.isCompleted)
            #expect(seen.entries.sorted() == ["again", "again", "immediate"])
            #expect(loop.statistics.timers == 0)
        }
    }
}
