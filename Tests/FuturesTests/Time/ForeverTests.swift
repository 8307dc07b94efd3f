import Futures
import Testing

/// What may hang on a future that nothing completes, and be dropped with it.
enum Hanging: String, CaseIterable, Codable, CustomTestStringConvertible {
    case itself, map, maps, recover, always, flatAlways, returned, returnedDeep, until, timeout
    case untilLater, mapsUntilLater, fallbackLater
    case ignoringCancellation, erased, whilePending, delay, typed, tokenTimeout, branches, reversed

    var testDescription: String { rawValue }

    /// Makes it, with `witness` in its closure.
    func make(on loop: EventLoop, _ witness: Witness, until token: CancellationToken) {
        let forever = loop.never(of: Int.self)
        let look: (Int) -> Int = { number in
            witness.look()
            return number
        }
        switch self {
        case .itself: break
        case .map: _ = forever.map(look)
        case .maps: _ = forever.map(look).map(look).flatMap { loop.succeeded($0) }.map(look)
        case .recover: _ = forever.map(look).recover { _ in 1 }
        case .always: _ = forever.always { witness.look() }
        case .flatAlways: _ = forever.map(look).flatAlways { loop.submit { witness.look() } }
        case .returned: _ = loop.submit {}.flatMap { loop.never(of: Int.self) }.map(look)
        case .returnedDeep:
            _ = loop.submit {}.flatMap { loop.submit {}.flatMap { loop.never(of: Int.self).map(look) } }
                .map(look)
        case .until: _ = forever.map(token: CancellationSource(on: loop).token, look)
        case .untilLater: _ = forever.map(token: token, look)
        case .mapsUntilLater:
            _ = forever.map(look).map(token: token, look).recover(token: token) { _ in 1 }.map(look)
        case .fallbackLater:
            _ = loop.failed(Failure()).fallback(to: forever, token: token).map(token: token, look)
        case .timeout:
            _ = forever.map(look).timeout(after: .ticks(1), cancellingSource: false).recover { _ in 1 }
        case .tokenTimeout: _ = forever.map(look).timeout(after: .ticks(1)).recover { _ in 1 }
        case .ignoringCancellation: _ = forever.map(look).ignoringCancellation().map(look)
        case .erased: _ = forever.map(look).asVoid()
        case .whilePending:
            _ = forever.whilePending { Disposer { witness.look() } }.map(look)
        case .delay: _ = forever.delay(by: .ticks(1)).map(look)
        case .typed: _ = forever.map(look).typed(Failure.self) { _ in Failure() }.map(look)
        case .branches:
            _ = forever.map(look)
            _ = forever.map(look).map(look)
            _ = forever.recover { _ in look(1) }
        case .reversed:
            // The last to go is the future itself.
            do { _ = forever.map(look) }
        }
        withExtendedLifetime(forever) {}
    }
}

struct ForeverTests {
    @Test(
        "a future that nothing completes goes when it is dropped, and all that hangs on it",
        arguments: Driver.allCases,
        Hanging.allCases)
    func dropped(driver: Driver, hanging: Hanging) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            var source: CancellationSource? = CancellationSource(on: loop)
            do {
                let witness = Witness()
                captured = witness
                hanging.make(on: loop, witness, until: source!.token)
            }
            if hanging == .itself { #expect(loop.statistics.futures == 1) }
            try pass(.ticks(2), on: loop)
            try settle(loop)
            #expect(captured == nil)
            // The token's.
            #expect(loop.statistics.futures == 1)
            source = nil
            #expect(loop.statistics.futures == 0)
        }
    }

    @Test("what is dropped in a callback goes without another one", arguments: Driver.allCases)
    func droppedInside(driver: Driver) throws {
        try withLoop(driver) { loop in
            let end = loop.submit { for _ in 0..<1000 { _ = loop.never(of: Int.self).map { $0 } } }
            try loop.run(until: end)
            try loop.run()
            #expect(loop.statistics.futures <= 1)
        }
    }

    @Test("shutdown fails it, and what follows from it", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let forever = loop.never(of: Int.self)
            let next = forever.map { $0 }
            loop.shutdown()
            expect(forever, failsWith: FutureError.shutDown)
            expect(next, failsWith: FutureError.shutDown)
        }
    }

    @Test(
        "what somebody holds, or listens to, lives on, and hears of a cancellation",
        arguments: Driver.allCases)
    func held(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let held = loop.never(of: Int.self).map { $0 + 1 }
            let deep = loop.submit {}.flatMap { loop.never(of: Int.self) }.map { $0 + 1 }.map { $0 }
            loop.never(of: Int.self).map { $0 }.whenComplete { seen.add($0) }
            let source = CancellationSource(on: loop)
            loop.never(of: Int.self).whenComplete(token: source.token) { seen.add($0) }
            let tied = loop.never(of: Int.self).map(token: source.token) { $0 }
            let group = Future.all([loop.never(of: Int.self), loop.succeeded(1)])
            let race = Future.race([loop.never(of: Int.self), loop.sleep(for: .ticks(3)).map { 3 }])
            for _ in 0..<40 { try settle(loop) }
            #expect(!held.isCompleted && !deep.isCompleted && !group.isCompleted && !tied.isCompleted)
            #expect(seen.entries.isEmpty)
            try expect(race, succeedsWith: 3)
            #expect(held.cancel() && deep.cancel() && group.cancel())
            #expect(held.isCancelled && deep.isCancelled && group.isCancelled)
            source.cancel()
            try settle(loop)
            #expect(seen.entries == ["cancelled"] && tied.isCancelled)
            loop.shutdown()
            #expect(seen.entries.count == 2 && seen.entries[1].contains("shut down"))
        }
    }

    @Test(
        "what hangs on it is cancelled once nobody listens any more, clean-ups run once",
        arguments: Driver.allCases)
    func forgotten(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            loop.never(of: Int.self).always { seen.add("always") }
                .whenComplete(token: source.token) { seen.add($0) }
            try settle(loop)
            #expect(seen.entries.isEmpty)
            source.cancel()
            for _ in 0..<3 { try settle(loop) }
            #expect(Set(seen.entries) == ["always", "cancelled"] && seen.entries.count == 2)
        }
    }

    @Test("a chain of a hundred thousand goes as a short one does")
    func long() throws {
        try withLoop(.virtual) { loop in
            var last: Future<Int>? = loop.never(of: Int.self)
            for _ in 0..<100_000 { last = last!.map { $0 } }
            try settle(loop)
            #expect(loop.statistics.futures > 100_000)
            last = nil
            // The longer it takes to look, the rarer it is done.
            for _ in 0..<10_000 { try settle(loop) }
            #expect(loop.statistics.futures == 0)
        }
    }

    @Test("a request to cancel finds it, through what follows from it", arguments: Driver.allCases)
    func supported(driver: Driver) throws {
        try withLoop(driver) { loop in
            let forever = loop.never(of: Int.self)
            let mapped = forever.map { $0 }
            #expect(mapped.cancel(.ifSupported))
            #expect(forever.isCancelled)
            let orphan = loop.never(of: Int.self).map { $0 }
            #expect(orphan.cancel(.ifSupported))
        }
    }

    @Test(
        "a future that never completes can be cancelled, waited for in vain, and shut down",
        arguments: Driver.allCases)
    func never(driver: Driver) throws {
        try withLoop(driver) { loop in
            let never = loop.never(of: Int.self)
            expect(
                loop.never(of: Int.self).timeout(after: .ticks(1)),
                failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(!never.isCompleted)
            #expect(never.map { $0 }.cancel())
            expectCancelled(never)
            var last = ""
            loop.never(of: Int.self).map { $0 }.whenComplete { last = "\($0)" }
            loop.shutdown()
            #expect(last == "failure(\(FutureError.shutDown))")
        }
    }

    @Test("a chain lives as long as its end is held, and goes soon after that", arguments: 14..<50)
    func chain(length: Int) throws {
        try withLoop(.virtual) { loop in
            var last: Future<Int>? = loop.never(of: Int.self)
            for _ in 0..<length { last = last!.map { $0 } }
            for _ in 0..<8 { try settle(loop) }
            #expect(last?.isCompleted == false)
            last = nil
            for _ in 0..<8 { try settle(loop) }
            #expect(loop.statistics.futures == 0)
        }
    }
}
