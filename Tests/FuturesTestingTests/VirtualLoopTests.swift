import Dispatch
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

struct VirtualLoopTests {
    private func withLoop(_ body: (EventLoop) throws -> Void) rethrows {
        let loop = EventLoop.virtual()
        try body(loop)
        #expect(loop.statistics.futures == 0 && loop.statistics.timers == 0)
        loop.shutdown()
    }

    @Test("the clock starts at zero and stands still until it is advanced")
    func clock() throws {
        try withLoop { loop in
            let start = loop.now
            loop.submit {}.whenSuccess {}
            try loop.run()
            #expect(loop.now == start)
            loop.advance(by: .milliseconds(1_500))
            #expect(start.duration(to: loop.now) == .milliseconds(1_500))
            loop.advance(by: .zero)
            #expect(start.duration(to: loop.now) == .milliseconds(1_500))
        }
    }

    @Test("advance fires what becomes due, each at its own time, and nothing later")
    func advance() {
        withLoop { loop in
            var fired: [(String, Double)] = []
            let start = loop.now
            func note(_ name: String) { fired.append((name, start.duration(to: loop.now) / .seconds(1))) }
            loop.schedule(after: .seconds(3)) { note("c") }
            loop.schedule(after: .seconds(1)) {
                note("a")
                loop.schedule(after: .seconds(1)) { note("b") }
            }
            let late = loop.schedule(after: .seconds(4)) { note("d") }
            loop.advance(by: .nanoseconds(3_999_999_999))
            #expect(fired.map(\.0) == ["a", "b", "c"])
            #expect(fired.map(\.1) == [1, 2, 3])
            loop.advance(by: .nanoseconds(1))
            #expect(fired.last?.0 == "d" && fired.last?.1 == 4)
            #expect(late.future.isCompleted)
        }
    }

    @Test("advance by nothing runs what is ready and what is due")
    func advanceByNothing() {
        withLoop { loop in
            var seen: [Int] = []
            loop.submit { seen.append(1) }.whenSuccess { seen.append(2) }
            loop.schedule(after: .zero) { seen.append(3) }
            #expect(seen.isEmpty)
            loop.advance(by: .zero)
            #expect(seen == [1, 2, 3])
        }
    }

    @Test("run jumps from deadline to deadline")
    func run() throws {
        try withLoop { loop in
            let start = loop.now
            let hours = try loop.run(
                until: loop.sleep(for: .seconds(3600)).flatMap { loop.sleep(for: .seconds(3600)) }
                    .map { start.duration(to: loop.now) / .seconds(3600) })
            #expect(hours == 2)
        }
    }

    @Test(
        "jobs that never stop coming from another thread do not hold up the clock", arguments: [false, true])
    func flood(advancing: Bool) throws {
        try withLoop { loop in
            let flood = Flood(of: loop)
            flood.goOn()
            let hour = loop.schedule(after: .seconds(3600)) { flood.isOver = true }.future
            if advancing { loop.advance(by: .seconds(3600)) } else { try loop.run(until: hour) }
            #expect(hour.isCompleted && flood.isOver)
            try loop.run()
        }
    }

    @Test("the clock stops at the end of time")
    func endOfTime() {
        withLoop { loop in
            loop.advance(by: .seconds(Int64.max))
            let end = loop.now
            loop.advance(by: .seconds(Int64.max))
            #expect(loop.now == end)
        }
    }

    @Test("two virtual loops have clocks of their own")
    func twoLoops() {
        withLoop { first in
            withLoop { second in
                first.advance(by: .seconds(1))
                #expect(second.now == EventLoop.virtual().now)
                #expect(first.now > second.now)
            }
        }
    }

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
            FileHandle.standardError.write(Data("FuturesTestingTests/VirtualLoopTests.swift:\(line)\n".utf8))
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

    private func expect(_ sentence: String, in result: ExitTest.Result?) {
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(sentence))
    }

    @Test("time does not go backwards")
    func negative() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            EventLoop.virtual().advance(by: .seconds(-1))
        }
        expect("advance(by:) was given -1.0 seconds; time only moves forward.", in: result)
    }

    @Test("advance in a callback traps")
    func nested() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            try loop.run(until: loop.submit { loop.advance(by: .zero) })
        }
        expect("advance(by:) was called on an event loop that is running.", in: result)
    }

    @Test("advance on a loop that has been shut down traps")
    func shutDown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            loop.shutdown()
            loop.advance(by: .zero)
        }
        expect(
            "advance(by:) was called on an event loop that has been shut down; make a new one.", in: result)
    }
}

/// Has a thread wake the loop, and, as soon as that has come, again: there is never a moment without a wake-up.
private final class Flood: @unchecked Sendable {
    // Touched on the loop's thread only, apart from `loop` and `queue`.
    var isOver = false
    private let loop: EventLoop
    private let queue = DispatchQueue(label: "flood")

    init(of loop: EventLoop) { self.loop = loop }

    func goOn() {
        guard !isOver else { return }
        let isGiven = DispatchSemaphore(value: 0)
        queue.async {
            self.loop.execute { self.goOn() }
            isGiven.signal()
        }
        isGiven.wait()
    }
}
