import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

struct BusyInstantTests {
    /// Ways to have something ready for ever.
    enum Endless: String, CaseIterable, Codable, CustomTestStringConvertible {
        case submit, flatMap, zeroDelay, nextTurn, whenIdle

        var testDescription: String { rawValue }

        /// Starts it, and returns the line that makes the last callback.
        func start(on loop: EventLoop) -> Int {
            switch self {
            case .submit:
                func again() { loop.submit { again() }.ignoreFailure() }
                again()
                return #line - 2
            case .flatMap:
                func again() -> Future<Void> { loop.succeeded().flatMap(again) }
                again().ignoreFailure()
                return #line - 2
            case .zeroDelay:
                func again() { loop.schedule(after: .zero) { again() } }
                again()
                return #line - 2
            case .nextTurn:
                func again() { loop.submit(on: .nextTurn) { again() }.ignoreFailure() }
                again()
                return #line - 2
            case .whenIdle:
                func again() { loop.submit(on: .whenIdle) { again() }.ignoreFailure() }
                again()
                return #line - 2
            }
        }
    }

    @Test(
        "work without end at one instant traps, and a debug build says where it is made",
        arguments: Endless.allCases)
    func endless(kind: Endless) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [kind] in
            let loop = EventLoop.virtual(maxCallbacksPerInstant: 1_000)
            let line = kind.start(on: loop)
            FileHandle.standardError.write(Data("FuturesTestingTests/BusyInstantTests.swift:\(line)\n".utf8))
            if kind == .submit { try loop.run() } else { loop.advance(by: .seconds(1)) }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #if DEBUG
            let place = "The last one was made at \(printed.prefix { $0 != "\n" }). "
        #else
            let place = ""
        #endif
        expect(
            "has run 1000 callbacks at one instant, and there are more: they never end. \(place)Let it wait for time to "
                + "pass, or allow for more by EventLoop.virtual(maxCallbacksPerInstant:).", in: result)
    }

    @Test(
        "by default a million callbacks at one instant are too many",
        .disabled(if: isDebug, "Takes too long."))
    func million() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            func again() { loop.submit { again() }.ignoreFailure() }
            again()
            loop.advance(by: .zero)
        }
        expect("has run 1000000 callbacks at one instant", in: result)
    }

    @Test("callbacks of different runs are not counted together")
    func runs() throws {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 100)
        for _ in 0..<50 { try loop.run(until: loop.submit {}.flatMap { loop.submit {} }) }
        for _ in 0..<50 {
            loop.submit {}.flatMap { loop.submit {} }.ignoreFailure()
            loop.advance(by: .zero)
        }
        loop.shutdown()
    }

    @Test("callbacks count by instant, and more may be allowed")
    func instants() throws {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 5_000)
        func again(_ left: Int) -> Future<Void> {
            left == 0 ? loop.succeeded() : loop.succeeded().flatMap { again(left - 1) }
        }
        var rounds = 0
        func round() -> Future<Void> {
            rounds += 1
            return rounds > 20
                ? loop.succeeded() : again(4_000).flatMap { loop.sleep(for: .nanoseconds(1)) }.flatMap(round)
        }
        try loop.run(until: round())
        #expect(rounds == 21)
        loop.shutdown()
    }

    @Test("callbacks that are too many, but end before the loop has looked, are none too many")
    func endInTime() throws {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 100)
        var runs = 0
        for _ in 0..<2 {
            let promise = loop.makePromise(of: Void.self)
            for _ in 0..<200 { promise.future.whenSuccess { runs += 1 } }
            loop.schedule(after: .seconds(1)) { promise.succeed() }
            try loop.run(until: loop.sleep(for: .seconds(2)))
        }
        #expect(runs == 400)
        loop.shutdown()
    }

    @Test("callbacks count by instant in a world, too")
    func instantsOfWorld() throws {
        let world = World(seed: 1, maxCallbacksPerInstant: 100)
        defer { world.end() }
        let host = try world.addHost("a")
        var runs = 0
        host.loop.repeat(every: .milliseconds(1)) { runs += 1 }
        try world.run(for: .seconds(1))
        #expect(runs >= 999)
    }

    @Test("a limit of one callback is allowed, and none is not")
    func least() async throws {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 1)
        try loop.run(until: loop.submit {})
        loop.shutdown()
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = EventLoop.virtual(maxCallbacksPerInstant: 0)
        }
        expect("The limit of callbacks in an instant must be at least 1, not 0.", in: result)
    }

    @Test("a nanosecond that a callback takes makes a new instant")
    func nanosecond() {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 100)
        var runs = 0
        func again() {
            runs += 1
            loop.advanceWithoutRunning(by: .nanoseconds(1))
            if runs < 1000 { loop.submit { again() }.ignoreFailure() }
        }
        again()
        loop.advance(by: .zero)
        #expect(runs == 1000)
        loop.shutdown()
    }
}
