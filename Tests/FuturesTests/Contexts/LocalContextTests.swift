import Futures
import Testing

struct LocalContextTests {
    static let contexts: [LocalContext] = [.loop, .immediate, .nextTurn, .whenIdle]

    @Test(
        "each method runs its callback once, on the context it was given, for the outcomes it wants",
        arguments: Driver.allCases, RegisteringMethod.allCases)
    func everyMethod(driver: Driver, method: RegisteringMethod) throws {
        try withLoop(driver) { loop in
            // All wait for the same idle loop, since a turn of a real loop takes real time.
            var cases: [(context: LocalContext, seen: Record, expected: [String])] = []
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
                        cases.append((context, seen, expected))
                    }
                }
            }
            try settle(loop)
            for (context, seen, expected) in cases where context == .loop {
                #expect(seen.entries == expected)
            }
            // This is the last of all callbacks.
            try loop.run(until: loop.submit(on: .whenIdle) {})
            for (context, seen, expected) in cases { #expect(seen.entries == expected, "\(context)") }
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
