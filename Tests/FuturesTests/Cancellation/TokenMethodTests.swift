import Futures
import Testing

/// What a token does to the methods that make a future of others, or of work.
struct TokenMethodTests {
    /// What a token cancels besides the future that is made, if nobody else waits for that.
    private enum Ended { case nothing, startedWork }

    /// Each way to make something of a future with a token, and what the token ends.
    private static let methods = derivingMethods + otherMethods

    private static let derivingMethods: [Method] = RegisteringMethod.allCases.compactMap { method in
        if method.rawValue.hasPrefix("when") { return nil }
        return (method.rawValue, .nothing, { f, t in method.register(on: f, token: t) {}!.asVoid() })
    }

    private static let otherMethods: [Method] = [
        ("fallback", .nothing, { f, t in f.fallback(to: f.loop.succeeded(2), token: t).asVoid() }),
        ("notBefore", .nothing, { f, t in f.notBefore(.ticks(1), token: t).asVoid() }),
        ("delay(by:)", .nothing, { f, t in f.delay(token: t) { _ in .ticks(1) }.asVoid() }),
        (
            "timeout", .nothing,
            { f, t in f.timeout(after: .seconds(60), with: .cancelled, token: t).asVoid() }
        ),
        ("whilePending", .nothing, { f, t in f.whilePending(token: t) { DisposeBag() }.asVoid() }),
        (
            "poll", .startedWork,
            { f, t in f.loop.poll(every: .ticks(1), until: { $0 > 0 }, token: t) { f }.asVoid() }
        ),
        ("retry", .startedWork, { f, t in f.loop.retry(token: t) { _ in f }.asVoid() }),
        (
            "with", .startedWork,
            { f, t in FutureSemaphore(count: 1, on: f.loop).with(token: t) { f }.asVoid() }
        ),
        ("withLock", .startedWork, { f, t in FutureMutex(on: f.loop).withLock(token: t) { f }.asVoid() }),
        ("flatMap to it", .startedWork, { f, t in f.loop.succeeded().flatMap(token: t) { f }.asVoid() }),
        (
            "fold to it", .startedWork,
            { f, t in
                Future.fold([f.loop.succeeded(1)], 0, token: t) { _, _ in f }.asVoid()
            }
        ),
        ("all", .nothing, { f, t in Future.all([f, f], token: t).asVoid() }),
        ("all, not fast", .nothing, { f, t in Future.all([f, f], failFast: false, token: t).asVoid() }),
        ("allSettled", .nothing, { f, t in Future.allSettled([f, f], token: t).asVoid() }),
        ("mapEach", .nothing, { f, t in Future.mapEach([f, f], token: t) { _, index in index }.asVoid() }),
        ("race", .nothing, { f, t in Future.race([f, f], token: t).asVoid() }),
        ("firstSuccess", .nothing, { f, t in Future.firstSuccess([f, f], token: t).asVoid() }),
        ("firstCompleted", .nothing, { f, t in Future.firstCompleted(1, of: [f, f], token: t).asVoid() }),
        (
            "select", .nothing,
            { f, t in Future.select(f, or: f, token: t).asVoid() }
        ),
        ("select(from:)", .nothing, { f, t in Future.select(from: [f, f], token: t).asVoid() }),
        ("sequence", .nothing, { f, t in Future.sequence([f, f], token: t).asVoid() }),
        ("reduce(into:)", .nothing, { f, t in Future.reduce([f], into: 0, token: t) { $0 += $1 }.asVoid() }),
        ("reduce", .nothing, { f, t in Future.reduce([f], 0, token: t) { $0 + $1 }.asVoid() }),
        ("fold", .nothing, { f, t in Future.fold([f], 0, token: t) { f.loop.succeeded($0 + $1) }.asVoid() }),
        ("find", .nothing, { f, t in Future.find([f, f], token: t) { $0 > 0 }.asVoid() }),
        ("traverse", .startedWork, { f, t in f.loop.traverse([1, 2], token: t) { _ in f }.asVoid() }),
        (
            "traverseSettled", .startedWork,
            { f, t in f.loop.traverseSettled([1], token: t) { _ in f }.asVoid() }
        ),
        ("forEach", .startedWork, { f, t in f.loop.forEach([1, 2], token: t) { _ in f } }),
        ("repeat(times:)", .startedWork, { f, t in f.loop.repeat(times: 2, token: t) { _ in f } }),
        (
            "repeat(while:)", .startedWork,
            { f, t in f.loop.repeat(while: { !f.isCompleted }, token: t, { f }) }
        ),
        ("start", .startedWork, { f, t in Deferred { f }.start(on: f.loop, token: t).asVoid() }),
        (
            "start(_:)", .startedWork,
            { f, t in
                let promise = f.loop.makePromise(of: Int.self)
                Deferred { f }.start(on: f.loop, token: t).whenComplete { promise.complete($0) }
                return promise.future.asVoid()
            }
        ),
        (
            "findOrFetch", .startedWork,
            { f, t in
                FutureCache<Int, Int>(on: f.loop).findOrFetch(1, token: t) { f }.asVoid()
            }
        ),
    ]

    private typealias Method = (name: String, ends: Ended, make: Make)
    private typealias Make = @Sendable (Future<Int>, CancellationToken) -> Future<Void>

    @Test(
        "a token that is cancelled before, meanwhile or afterwards, with and without others who wait",
        arguments: Driver.allCases, methods.indices)
    func everyMethod(driver: Driver, index: Int) throws {
        let method = Self.methods[index]
        try withLoop(driver) { loop in
            for isShared in [false, true] {
                for when in ["before", "meanwhile", "afterwards"] {
                    let source = CancellationSource(on: loop)
                    let promise = loop.makePromise(of: Int.self)
                    if isShared { promise.future.whenComplete { _ in } }
                    if when == "before" { source.cancel() }
                    let made = method.make(promise.future, source.token)
                    try settle(loop)
                    if when == "meanwhile" {
                        #expect(!made.isCompleted, "\(method.name)")
                        source.cancel()
                        try settle(loop)
                    }
                    if when == "afterwards" {
                        promise.succeed(1)
                        #expect(throws: Never.self, "\(method.name)") { try loop.run(until: made) }
                        source.cancel()
                        #expect("\(made)" == "Future(success: ())", "\(method.name)")
                    } else {
                        #expect("\(made)" == "Future(cancelled)", "\(method.name) \(when)")
                        let isEnded = method.ends == .startedWork && when != "before" && !isShared
                        #expect(promise.future.isCompleted == isEnded, "\(method.name) \(when)")
                        // Removed: nobody but others waits.
                        if !isEnded {
                            let waiting = "\(isShared ? 1 : 0) waiting"
                            #expect(
                                promise.future.debugDescription.contains(waiting), "\(method.name) \(when)")
                        }
                    }
                    #expect(loop.statistics.timers == 0, "\(method.name)")
                    promise.succeed(1)
                }
            }
        }
    }

    /// Each way to wait for a second future when the first has completed.
    private static let waitingForSecond: [(name: String, make: Second)] = [
        ("fallback", { f, g, t in f.loop.failed(Failure()).fallback(to: g, token: t).asVoid() }),
        (
            "fallback of several",
            { f, g, t in
                f.loop.failed(Failure()).fallback(to: f.loop.failed(Failure()), token: t).fallback(
                    to: g, token: t
                ).asVoid()
            }
        ),
        ("sequence", { f, g, t in Future.sequence([f, g], token: t).asVoid() }),
        ("reduce(into:)", { f, g, t in Future.reduce([f, g], into: 0, token: t) { $0 += $1 }.asVoid() }),
        ("reduce", { f, g, t in Future.reduce([f, g], 0, token: t) { $0 + $1 }.asVoid() }),
        ("fold", { f, g, t in Future.fold([f, g], 0, token: t) { f.loop.succeeded($0 + $1) }.asVoid() }),
        ("find", { f, g, t in Future.find([f, g], token: t) { $0 > 1 }.asVoid() }),
        ("all", { f, g, t in Future.all([f, g], token: t).asVoid() }),
        ("allSettled", { f, g, t in Future.allSettled([f, g], token: t).asVoid() }),
        ("firstCompleted", { f, g, t in Future.firstCompleted(2, of: [f, g], token: t).asVoid() }),
    ]

    private typealias Second = @Sendable (Future<Int>, Future<Int>, CancellationToken) -> Future<Void>

    @Test(
        "a token leaves alone what is waited for second, and a request to cancel does not",
        arguments: Driver.allCases, waitingForSecond.indices)
    func second(driver: Driver, index: Int) throws {
        let (name, make) = Self.waitingForSecond[index]
        try withLoop(driver) { loop in
            let (source, promise) = (CancellationSource(on: loop), loop.makePromise(of: Int.self))
            let made = make(loop.succeeded(1), promise.future, source.token)
            try settle(loop)
            #expect(!made.isCompleted, "\(name)")
            source.cancel()
            try settle(loop)
            #expect("\(made)" == "Future(cancelled)", "\(name)")
            #expect(!promise.future.isCompleted, "\(name)")
            #expect(promise.future.debugDescription.contains("0 waiting"), "\(name)")
            #expect(promise.succeed(1))

            let wanted = loop.makePromise(of: Int.self)
            let unwanted = make(loop.succeeded(1), wanted.future, CancellationSource(on: loop).token)
            try settle(loop)
            #expect(unwanted.cancel(), "\(name)")
            #expect(wanted.future.isCompleted, "\(name)")
        }
    }

    @Test("work that is given a cancelled token is not started", arguments: Driver.allCases)
    func notStarted(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            source.cancel()
            func refuse<Input>(_: Input) -> Future<Int> {
                Issue.record("work was started")
                return loop.succeeded(1)
            }
            let token = source.token
            expectCancelled(loop.traverse([1], token: token, refuse))
            expectCancelled(loop.traverse([1], on: .immediate, token: token, refuse))
            expectCancelled(loop.repeat(times: 1, token: token, refuse))
            expectCancelled(Deferred { refuse(0) }.start(on: loop, token: token))
            expectCancelled(loop.poll(every: .ticks(1), until: { _ in true }, token: token) { refuse(0) })
            expectCancelled(FutureCache<Int, Int>(on: loop).findOrFetch(1, token: token) { refuse(0) })
            expectCancelled(loop.schedule(after: .zero, token: token) { refuse(0) }.future)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("an observer with a time limit hears of its token, and its timer ends", arguments: Driver.allCases)
    func withinLimit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            for context in [LocalContext.immediate, .nextTurn] {
                promise.future.whenComplete(within: .seconds(60), on: context, token: source.token) {
                    result in
                    seen.add("\(loop.currentContext)")
                    seen.add(result)
                } timedOut: {
                    seen.add("timed out")
                }
            }
            source.cancel()
            try pass(.ticks(1), on: loop)
            #expect(seen.entries == ["immediate", "cancelled", "nextTurn", "cancelled"])
            #expect(loop.statistics.timers == 0)
            #expect(promise.succeed(1))
        }
    }

    @Test("elements are worked on in the context that was given", arguments: Driver.allCases)
    func contexts(driver: Driver) throws {
        try withLoop(driver) { loop in
            func work(_ number: Int) -> Future<String> { loop.succeeded("\(number) \(loop.currentContext)") }
            for context in [LocalContext.immediate, .nextTurn, .loop] {
                try expect(
                    loop.traverse([1, 2], maxConcurrent: 1, on: context, work),
                    succeedsWith: ["1 \(context)", "2 \(context)"])
                let settled = loop.traverseSettled([1], on: context, work).map { try $0[0].get() }
                try expect(settled, succeedsWith: "1 \(context)")
                let seen = Record()
                let all = loop.forEach([1], on: context) { work($0).tap { seen.add($0) } }
                _ = try loop.run(until: all)
                #expect(seen.entries == ["1 \(context)"])
                let zipped = loop.succeeded(1).and(loop.succeeded(2)).map(on: context) { _ in
                    "\(loop.currentContext)"
                }
                try expect(zipped, succeedsWith: "\(context)")
            }
            expect(
                loop.traverse([1], on: .immediate) { _ -> Future<Int> in throw Failure(1) },
                failsWith: Failure(1))
        }
    }

    @Test("scheduled work runs in its context, unless its token is cancelled", arguments: Driver.allCases)
    func schedule(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            for context in [LocalContext.immediate, .loop, .nextTurn, .whenIdle] {
                let task = loop.schedule(after: .ticks(1), on: context, token: source.token) {
                    "\(loop.currentContext)"
                }
                try expect(task.future, succeedsWith: "\(context)")
                #expect(!task.cancel())
            }
            let seen = Record()
            let late = loop.schedule(after: .seconds(60), token: source.token) { seen.add("late") }
            loop.schedule(at: loop.now) { source.cancel() }
            try pass(.ticks(1), on: loop)
            #expect("\(late.future)" == "Future(cancelled)")
            #expect(loop.statistics.timers == 0 && seen.entries.isEmpty)
            let other = loop.schedule(after: .seconds(60), token: CancellationSource(on: loop).token) {}
            #expect(other.cancel() && loop.statistics.timers == 0)
        }
    }
}
