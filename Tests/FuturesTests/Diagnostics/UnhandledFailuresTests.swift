import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

struct UnhandledFailuresTests {
    /// Runs `body`, lets the loop settle, and expects these failures to be reported.
    private func expectReports(
        _ expected: [Int], on driver: Driver, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (EventLoop) throws -> Void
    ) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add(($0 as? Failure)?.code ?? -1) }
            try body(loop)
            try settle(loop)
            #expect(seen.entries == expected.map { "\($0)" }, sourceLocation: sourceLocation)
            loop.onUnhandledFailure = nil
        }
    }

    @Test(
        "a failed future that is released unheard is reported once, when it is released",
        arguments: Driver.allCases
    )
    func reported(driver: Driver) throws {
        try expectReports([1, 2, 3, -1], on: driver) { loop in
            func fail(_ code: Int) -> Future<Int> { loop.failed(Failure(code)) }
            do { _ = fail(1) }
            var held: Future<Int>? = fail(3)
            try settle(loop)
            #expect(held!.isCompleted)
            loop.submit { fail(2) }.whenSuccess { _ in }
            try settle(loop)
            held = nil
            do { _ = loop.makePromise(of: Int.self) }
        }
    }

    @Test("a report comes at the end of the turn, after all callbacks", arguments: Driver.allCases)
    func endOfTurn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { _ in seen.add("report") }
            loop.submit {
                _ = loop.failed(Failure(), of: Int.self)
                seen.add("released")
            }.whenSuccess { seen.add("callback") }
            try settle(loop)
            #expect(seen.entries == ["released", "callback", "report"])
            loop.onUnhandledFailure = nil
        }
    }

    @Test("what passes a failure on is reported in its place, once", arguments: Driver.allCases)
    func passedOn(driver: Driver) throws {
        try expectReports([1, 2, 3, 4], on: driver) { loop in
            func fail(_ code: Int) -> Future<Int> { loop.failed(Failure(code)) }
            _ = fail(1).map { $0 }.map { $0 }
            _ = fail(2).always {}
            _ = loop.succeeded(0).map { _ in throw Failure(3) }
            _ = loop.submit {}.flatMap { loop.submit {}.map { _ -> Int in throw Failure(4) } }
        }
    }

    @Test("observers of other outcomes do not count as hearing of it", arguments: Driver.allCases)
    func unheard(driver: Driver) throws {
        try expectReports([1, 2, 3], on: driver) { loop in
            func fail(_ code: Int) -> Future<Int> { loop.failed(Failure(code)) }
            fail(1).whenSuccess { _ in }
            fail(2).whenCancelled {}
            #expect(fail(3).result != nil)
        }
    }

    @Test("a failure that somebody hears of is not reported", arguments: Driver.allCases)
    func heard(driver: Driver) throws {
        try expectReports([], on: driver) { loop in
            func fail() -> Future<Int> { loop.failed(Failure()) }
            fail().ignoreFailure()
            fail().whenFailure { _ in }
            fail().whenComplete { _ in }
            _ = fail().recover { _ in 0 }
            _ = fail().mapResult { _ in 0 }
            _ = fail().flatMapError { _ in loop.succeeded(0) }
            expect(fail(), failsWith: Failure())
            expect(loop.submit { throw Failure() }, failsWith: Failure())
            let locked = loop.makePromise(of: Int.self)
            locked.complete(using: fail())
            locked.future.ignoreFailure()
            let typed = loop.makePromise(of: Int.self, failingWith: Failure.self)
            typed.fail(Failure())
            try loop.run(until: Future(on: loop) { _ = try? await typed.future.value })
        }
    }

    @Test("the losers of groups and limits are not reported", arguments: Driver.allCases)
    func losers(driver: Driver) throws {
        try expectReports([], on: driver) { loop in
            func fail() -> Future<Int> { loop.submit { throw Failure() } }
            try expect(Future.race([loop.succeeded(1), fail(), fail()]), succeedsWith: 1)
            expect(Future.all([fail(), fail(), fail()]), failsWith: Failure())
            expect(fail().and(fail()).map { $0.0 }, failsWith: Failure())
            let late = loop.makePromise(of: Int.self)
            late.onCancelRequest { .continue }
            expect(late.future.timeout(after: .zero), failsWith: FutureError.timedOut(after: .zero))
            late.fail(Failure())
        }
    }

    @Test("cancellation is not reported", arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try expectReports([], on: driver) { loop in
            _ = loop.failed(CancellationError(), of: Int.self)
            let promise = loop.makePromise(of: Int.self)
            promise.future.cancel()
            #expect(!promise.fail(Failure()))
        }
    }

    @Test("failures that the handler releases are reported as well", arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var held: [Future<Int>] = (1...3).map { loop.failed(Failure($0)) }
            loop.onUnhandledFailure = {
                seen.add(($0 as? Failure)?.code ?? -1)
                _ = held.popLast()
            }
            do { _ = loop.failed(Failure(0), of: Int.self) }
            try loop.run()
            #expect(seen.entries == ["0", "3", "2", "1"])
            loop.onUnhandledFailure = nil
        }
    }

    @Test(
        "a loop that has been shut down lets go of what it called, and calls nobody",
        arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            let seen = Record()
            func set() {
                let witness = Witness()
                captured = witness
                loop.onUnhandledFailure = { error in
                    witness.look()
                    seen.add(error)
                }
                loop.observe { event in
                    witness.look()
                    if case .unhandledFailure = event { seen.add("observed") }
                }
                loop.onSlowCallback { _ in witness.look() }
            }
            set()
            // The end itself is heard of.
            let promise = loop.makePromise(of: Int.self)
            _ = promise.future.recover { _ in throw Failure(1) }
            let held: Future<Int> = loop.failed(Failure(2))
            withExtendedLifetime(promise) { loop.shutdown() }
            #expect(captured == nil)
            #expect(seen.entries == ["observed", "Failure(code: 1)", "observed", "Failure(code: 2)"])
            set()
            #expect(captured == nil && loop.onUnhandledFailure == nil)
            _ = consume held
            _ = loop.failed(Failure(3), of: Int.self)
            #expect(seen.entries.count == 4)
        }
    }

    @Test("what fails after the end is printed, whatever was to hear of it")
    func afterTheEnd() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            loop.onUnhandledFailure = { fatalError("handler: \($0)") }
            loop.shutdown()
            for code in 1...2 { _ = loop.failed(Failure(code), of: Int.self) }
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            printed.split(separator: "\n").map(String.init) == [
                "Unhandled failure of a future: Failure(code: 1)",
                "Unhandled failure of a future: Failure(code: 2)",
            ])
    }

    @Test("by default ten lines a second are printed, then the number of the others")
    func printing() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let loop = EventLoop.virtual()
            for (second, count) in [15, 11].enumerated() {
                for index in 0..<count {
                    _ = loop.failed(Failure(second * 100 + index), of: Int.self)
                    // Those of one second are counted over turns.
                    if index == 6 { loop.advance(by: .milliseconds(1)) }
                }
                loop.advance(by: .seconds(1))
            }
            for index in 0..<3 { _ = loop.failed(Failure(200 + index), of: Int.self) }
            loop.advance(by: .zero)
        }
        var expected: [String] = []
        for (second, omitted) in [5, 1].enumerated() {
            expected += (0..<10).map { "Unhandled failure of a future: Failure(code: \(second * 100 + $0))" }
            expected.append("Unhandled failures of futures, not printed: \(omitted)")
        }
        expected += (0..<3).map { "Unhandled failure of a future: Failure(code: \(200 + $0))" }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(printed.split(separator: "\n").map(String.init) == expected)
    }

    @Test("the end of a run, and that of the loop, say how many failures were not printed")
    func omittedAtEnd() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            func fail(_ count: Int) { for _ in 0..<count { _ = loop.failed(Failure(), of: Int.self) } }
            fail(12)
            try loop.run()
            StandardError.print("ran")
            fail(3)
            loop.shutdown()
            StandardError.print("shut down")
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            printed.split(separator: "\n").dropFirst(10) == [
                "Unhandled failures of futures, not printed: 2", "ran",
                "Unhandled failures of futures, not printed: 3", "shut down",
            ])
    }

    @Test(
        "a failure that nothing observes is reported at the end of the loop, though its future is held, and once"
    )
    func heldAtShutdown() throws {
        let seen = Record()
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { seen.add(($0 as? Failure)?.code ?? -1) }
        let held = (1...200).map { code in loop.submit { if code % 50 == 0 { throw Failure(code) } } }
        let mapped = held[49].map { 0 }
        loop.advance(by: .zero)
        held[99].ignoreFailure()
        held[149].whenFailure { _ in }
        let pending = loop.makePromise(of: Int.self)
        #expect(seen.entries == [])
        loop.shutdown()
        #expect(seen.entries == ["200", "50"] || seen.entries == ["50", "200"])
        #expect(mapped.isCompleted && pending.future.isCompleted)
    }

    @Test("a failure that nothing observes is reported at the exit of the process, though its future is held")
    func heldAtExit() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            let body = Future<Void>(on: loop) { throw Failure(1) }
            let promise = loop.makePromise(of: Int.self)
            promise.fail(Failure(2))
            let observed = promise.future.map { $0 }
            observed.ignoreFailure()
            loop.advance(by: .zero)
            let other = EventLoop.virtual()
            let others = (3...14).map { code in other.submit { () -> Void in throw Failure(code) } }
            other.advance(by: .zero)
            unsafe keptForEver = [loop, body, promise, observed, other, others]
            try onThread {
                let elsewhere = EventLoop.virtual()
                unsafe keptForEver += [elsewhere, elsewhere.submit { () -> Void in throw Failure(99) }]
                elsewhere.advance(by: .zero)
            }
            // On this thread, as a program ends on its main one.
            exit(0)
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        let lines = printed.split(separator: "\n")
        #expect(lines.first?.contains("Unhandled failure of a body") == true, "\(printed)")
        let isOfCode = zip(lines.dropLast(), [1] + (3...12)).map { $0.hasSuffix(": Failure(code: \($1))") }
        #expect(lines.count == 12 && !isOfCode.contains(false), "\(printed)")
        #expect(lines.last == "Unhandled failures of futures, not printed: 2", "\(printed)")
    }

    @Test("shutdown reports clean-ups that fail, but not those that fail by itself")
    func cleanUpsAtShutdown() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add($0) }
            let promise = loop.makePromise(of: Int.self)
            _ = promise.future.tapError { _ in throw Failure(1) }
            _ = promise.future.tapError { _ in throw FutureError.shutDown }
            _ = loop.failed(Failure(2), of: Int.self).flatAlways { promise.future }
            loop.shutdown()
            let (end, cleanUp) = ("\(FutureError.shutDown)", "; and the clean-up after that failed: ")
            #expect(seen.entries == ["\(end)\(cleanUp)\(Failure(1))", "\(Failure(2))\(cleanUp)\(end)"])
        }
    }
}

/// What a program keeps in a global variable.
nonisolated(unsafe) private var keptForEver: [Any] = []
