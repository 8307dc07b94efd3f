import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// What a programmer's mistake is answered with: the process ends with a sentence, in release too.
struct MisuseTests {
    private static let wrongThread = """
        This future, promise or timer was used off its event loop's thread. Go there first, with \
        loop.execute { … }.
        """
    private static let foreign = """
        A future of another event loop was given where a future of this loop is needed. Give the future of \
        a promise of this loop, and complete that promise with loop.execute { … } from the other loop's \
        callback.
        """
    private static let foreignToken = """
        A cancellation token of another event loop was given where a token of this loop is needed. Make a \
        CancellationSource of this loop, and cancel that with loop.execute { … } from the other loop's \
        callback.
        """
    private static func nested(_ call: String) -> String {
        """
        \(call) was called on an event loop that is running. Return from the callback instead, and go on in a \
        future's callback, or await the future in asynchronous code.
        """
    }
    private static func elsewhere(_ call: String) -> String {
        """
        \(call) was called on another thread than the one that has used the event loop so far. Make and run \
        the loop on one thread, or make nothing on it before it runs.
        """
    }
    private static let noLoop = """
        A group without futures cannot know its event loop. Add the argument on: loop, or call it from \
        a loop's callback.
        """
    private static let endlessShutdown = """
        shutdown() was kept busy by callbacks that start new work when their work fails. Let them end on \
        FutureError.shutDown.
        """

    private func expect(
        _ sentence: String, in result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(sentence), sourceLocation: sourceLocation)
    }

    @Test("a future used on another thread", arguments: Driver.allCases)
    func mapElsewhere(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            nonisolated(unsafe) let future = loop.makePromise(of: Int.self).future
            try onThread { _ = unsafe future.map { $0 } }
        }
        expect(Self.wrongThread, in: result)
    }

    @Test("a closure given for later on another thread", arguments: Driver.allCases)
    func laterElsewhere(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            _ = loop.makePromise(of: Int.self)
            try onThread { loop.later {} }
        }
        expect(Self.wrongThread, in: result)
    }

    @Test("a promise completed on another thread", arguments: Driver.allCases)
    func completeElsewhere(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            nonisolated(unsafe) let promise = loop.makePromise(of: Int.self)
            try onThread { _ = unsafe promise.succeed(1) }
        }
        expect(Self.wrongThread, in: result)
    }

    @Test("a timer, a task or a shutdown asked for on another thread", arguments: 0..<6)
    func othersElsewhere(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            nonisolated(unsafe) let future = loop.makePromise(of: Int.self).future
            try onThread {
                switch call {
                case 0: _ = loop.sleep(for: .zero)
                case 1: _ = loop.submit { 1 } as Future<Int>
                case 2: loop.shutdown()
                case 3: _ = unsafe future.cancel()
                case 4: _ = loop.succeeded(1)
                default: _ = loop.statistics
                }
            }
        }
        expect(Self.wrongThread, in: result)
    }

    /// What drives a loop until it returns.
    enum Verb: String, CaseIterable, Codable {
        case run = "run()"
        case untilPending = "run(until:) of a pending future"
        case untilCompleted = "run(until:) of a completed future"
        case shutdown = "shutdown()"
        case turn = "turn()"
        case advance = "advance(by:)"

        /// As a trap names it.
        var name: String { String(rawValue.prefix { $0 != " " }) }

        func isFor(_ driver: Driver) -> Bool {
            switch self {
            case .turn: driver == .libuv
            case .advance: driver == .virtual
            default: true
            }
        }

        func call(on loop: EventLoop) throws {
            switch self {
            case .run: try loop.run()
            case .untilPending: try loop.run(until: loop.sleep(for: .zero))
            case .untilCompleted: _ = try loop.run(until: loop.succeeded(1))
            case .shutdown: loop.shutdown()
            case .turn: try loop.turn()
            case .advance: loop.advance(by: .zero)
            }
        }
    }

    @Test(
        "a run on another thread than that of the futures", arguments: Driver.allCases,
        [Verb.run, .turn, .advance])
    func runElsewhere(driver: Driver, verb: Verb) async {
        guard verb.isFor(driver) else { return }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver, verb] in
            let loop = try driver.makeLoop()
            let promise = loop.makePromise(of: Int.self)
            try onThread { try verb.call(on: loop) }
            promise.succeed(1)
        }
        expect(Self.elsewhere(verb.name), in: result)
    }

    @Test("a run on another thread than that of a handle", arguments: Driver.allCases)
    func runElsewhereWithHandle(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            loop.core.count(handles: 1)
            try onThread { try loop.run() }
        }
        expect(Self.elsewhere("run()"), in: result)
    }

    @Test(
        "a run in a callback of the loop that runs, by its own name", arguments: Driver.allCases,
        Verb.allCases)
    func nestedRun(driver: Driver, verb: Verb) async {
        guard verb.isFor(driver) else { return }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver, verb] in
            let loop = try driver.makeLoop()
            try loop.run(until: loop.submit { try verb.call(on: loop) })
        }
        expect(Self.nested(verb.name), in: result)
    }

    @Test("a run in a callback of the loop that shuts down", arguments: Driver.allCases)
    func runInShutdown(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            loop.sleep(for: .seconds(1000)).whenFailure { _ in try? Verb.untilCompleted.call(on: loop) }
            loop.shutdown()
        }
        expect(Self.nested("run(until:)"), in: result)
    }

    @Test("a future of another loop returned in a flatMap", arguments: Driver.allCases)
    func foreignFlatMap(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let (loop, other) = (try driver.makeLoop(), try driver.makeLoop())
            let foreign = other.makePromise(of: Int.self)
            try loop.run(until: loop.submit {}.flatMap { foreign.future }.map { _ in })
        }
        expect(Self.foreign, in: result)
    }

    @Test("a token of another loop given to a method, a job, a timer or another token", arguments: 0..<6)
    func foreignTokens(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let (source, foreign) = (CancellationSource(on: loop), CancellationSource(on: other))
            if call == 1 { foreign.cancel() }
            switch call {
            case 0, 1: _ = loop.succeeded(1).map(token: foreign.token) { $0 }
            case 2: loop.succeeded(1).whenSuccess(token: foreign.token) { _ in }
            case 3: _ = loop.submit(token: foreign.token) {}
            case 4: _ = loop.sleep(for: .zero, token: foreign.token)
            default: _ = source.token || foreign.token
            }
            withExtendedLifetime((source, foreign)) {}
        }
        expect(Self.foreignToken, in: result)
    }

    @Test("a future of another loop given to a group, a promise or a run", arguments: 0..<9)
    func foreignGroups(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let foreign = other.succeeded(1)
            switch call {
            case 0: _ = Future.all([loop.succeeded(1), foreign])
            case 1: _ = Future.race([foreign], on: loop)
            case 2: _ = loop.succeeded(1).and(foreign)
            case 3: loop.makePromise(of: Int.self).complete(using: foreign)
            case 4: _ = combine(foreign, loop.succeeded(1))
            case 5: _ = Future.select(loop.succeeded(1), or: foreign)
            case 6: _ = loop.traverse([1]) { _ in foreign }
            case 7: _ = Deferred { foreign }.start(on: loop)
            default: _ = try loop.run(until: foreign)
            }
        }
        expect(Self.foreign, in: result)
    }

    @Test("a group of nothing outside of all callbacks", arguments: 0..<4)
    func groupWithoutLoop(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            switch call {
            case 0: _ = Future<Int>.all([])
            case 1: _ = Future<Int>.race([])
            case 2: _ = combine(cancelRemaining: true)
            default: _ = Deferred.completed(.success(1)).start()
            }
        }
        expect(Self.noLoop, in: result)
    }

    @Test("advance on a loop of real time")
    func advanceOnRealTime() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Driver.libuv.makeLoop().advance(by: .zero)
        }
        expect(
            "advance(by:) was called on an event loop of real time; make the loop by EventLoop.virtual().",
            in: result)
    }

    @Test("a check that a future succeeds, or fails, which it does not", arguments: 0..<2)
    func unexpectedOutcome(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            let failed = loop.failed(FutureError.message("no luck"), of: Int.self)
            let checked = call == 0 ? failed.preconditionSuccess() : loop.succeeded(1).preconditionFailure()
            _ = try loop.run(until: checked)
        }
        let sentences = [
            "A future that must not fail has failed: no luck. Handle the error before the check, or remove the "
                + "check.",
            "A future that must fail has a value: 1. Remove the check, or what makes it succeed.",
        ]
        expect(sentences[call], in: result)
    }

    @Test(
        "callbacks that keep a shutdown busy for ever", .disabled(if: isSanitized, "Takes too long."),
        arguments: Driver.allCases)
    func endlessShutdown(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            func again() {
                for _ in 0..<100 { loop.sleep(for: .seconds(1)).whenComplete { _ in } }
                loop.sleep(for: .seconds(1)).whenComplete { _ in again() }
            }
            again()
            loop.shutdown()
        }
        expect(Self.endlessShutdown, in: result)
    }
}
