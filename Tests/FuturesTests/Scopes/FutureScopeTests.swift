import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// What is expected here is what trio's nurseries, kj's `TaskSet`, asyncio's `TaskGroup` and Swift's throwing task groups have
/// in common; where they differ, the test says whose way it is.
struct FutureScopeTests {
    /// Waits for `duration`, then notes `name`; notes how it was ended otherwise.
    private static func part(
        _ name: String, for duration: Duration, in seen: Record, on loop: EventLoop
    ) async throws {
        do { try await loop.sleep(for: duration).value } catch {
            seen.add("\(name) \(error)")
            throw error
        }
        seen.add(name)
    }

    @Test("a scope returns what its closure returns, when all members have ended", arguments: Driver.allCases)
    func returns(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                let value = try await loop.scope { scope in
                    scope.run { try await Self.part("late", for: .milliseconds(20), in: seen, on: loop) }
                    scope.run {
                        scope.run { try await Self.part("later", for: .milliseconds(30), in: seen, on: loop) }
                    }
                    scope.add(loop.sleep(for: .milliseconds(25)).tap { seen.add("future") })
                    let one = scope.run { () -> Int in
                        try await loop.sleep(for: .milliseconds(5)).value
                        return 1
                    }
                    return try await one.value + 1
                }
                seen.add("\(value)")
                return value
            }
            try expect(work, succeedsWith: 2)
            #expect(seen.entries == ["late", "future", "later", "2"])
        }
    }

    @Test(
        "the first failure cancels the closure and the other members, and comes out when all have ended",
        arguments: Driver.allCases, [false, true])
    func failure(driver: Driver, isOfClosure: Bool) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    scope.run {
                        do { try await loop.sleep(for: .seconds(600)).value } catch {
                            try await loop.shielded(within: .seconds(1)) {
                                try await loop.sleep(for: .milliseconds(10)).value
                            }
                            seen.add("cleaned up")
                        }
                    }
                    // Somebody waits for it, which does not keep the scope from cancelling it.
                    let waiting = scope.add(loop.sleep(for: .seconds(600)))
                    waiting.whenCancelled { seen.add("cancelled") }
                    if isOfClosure {
                        try await loop.sleep(for: .milliseconds(5)).value
                        throw Failure(1)
                    }
                    scope.run {
                        try await loop.sleep(for: .milliseconds(5)).value
                        throw Failure(1)
                    }
                    try await waiting.value
                }
            }
            expect(work, failsWith: Failure(1))
            #expect(seen.entries == ["cancelled", "cleaned up"])
        }
    }

    @Test(
        "what fails after the first failure is reported, unless somebody handles it",
        arguments: [false, true])
    func laterFailures(isHandled: Bool) throws {
        try withLoop(.virtual) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            let scope = FutureScope(on: loop)
            do {
                scope.run { throw Failure(1) }
                let second = scope.run {
                    do { try await loop.sleep(for: .seconds(600)).value } catch { throw Failure(2) }
                }
                if isHandled { second.ignoreFailure() }
            }
            expect(scope.ended, failsWith: Failure(1))
            try settle(loop)
            #expect(reported == (isHandled ? [] : ["\(Failure(2))"]))
        }
    }

    @Test(
        "a cancelled caller waits for its scope, which is cancelled at once", arguments: Driver.allCases,
        [false, true])
    func cancelledCaller(driver: Driver, isEarly: Bool) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                if isEarly { try? await loop.sleep(for: .seconds(600)).value }
                do {
                    try await loop.scope { scope in
                        scope.run {
                            do { try await loop.sleep(for: .seconds(600)).value } catch {
                                try await loop.sleep(for: .milliseconds(5)).ignoringCancellation().value
                                seen.add("member")
                                throw error
                            }
                        }
                        try await Self.part("closure", for: .seconds(600), in: seen, on: loop)
                    }
                } catch { seen.add("\(error)") }
            }
            work.ignoreFailure()
            try settle(loop)
            work.cancel()
            try loop.run()
            // A member of a scope that is cancelled does not start; its closure, which is a member from the beginning, does.
            let member = isEarly ? [] : ["member"]
            #expect(seen.entries == ["closure CancellationError()"] + member + ["CancellationError()"])
        }
    }

    @Test(
        "a member may cancel the scope, and be cancelled alone; neither is a failure",
        arguments: Driver.allCases)
    func cancelledMembers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    let alone = scope.run {
                        try await Self.part("alone", for: .seconds(600), in: seen, on: loop)
                    }
                    scope.run { try await Self.part("with all", for: .seconds(600), in: seen, on: loop) }
                    scope.run {
                        try await loop.sleep(for: .milliseconds(5)).value
                        #expect(alone.cancel())
                        try await loop.sleep(for: .milliseconds(5)).value
                        #expect(scope.count == 2 && !scope.isCancelled)
                        scope.cancel()
                        #expect(scope.isCancelled)
                        let refused = scope.run { Issue.record("it ran") }
                        #expect(refused.isCancelled && scope.add(loop.sleep(for: .seconds(9))).isCancelled)
                    }
                    return 3
                }
            }
            try expect(work, succeedsWith: 3)
            #expect(seen.entries == ["alone CancellationError()", "with all CancellationError()"])
        }
    }

    @Test(
        "a time limit cancels all, and is the error; what has ended in time is not touched",
        arguments: Driver.allCases)
    func limit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let late = Future(on: loop) {
                try await loop.scope(within: .milliseconds(10)) { scope in
                    scope.run { try await Self.part("member", for: .seconds(600), in: seen, on: loop) }
                }
            }
            expect(late, failsWith: FutureError.timedOut(after: .milliseconds(10)))
            #expect(seen.entries == ["member CancellationError()"])
            let early = Future(on: loop) {
                try await loop.scope(within: .seconds(600)) { _ in try await loop.submit { 4 }.value }
            }
            try expect(early, succeedsWith: 4)
            // No timer keeps the loop.
            try loop.run()
            let never = Future(on: loop) {
                try await loop.scope(within: .seconds(-1)) { _ in Issue.record("it ran") }
            }
            let text = "a delay of -1.0 seconds is negative; give zero or more"
            expect(never.map { _ in }, failsWith: FutureError.invalidArgument(text))
        }
    }

    @Test("a scope that is dropped cancels its members, which end by themselves", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var scope: FutureScope? = FutureScope(on: loop)
            let ended = scope!.ended
            scope!.run { try await Self.part("member", for: .seconds(600), in: seen, on: loop) }
            try settle(loop)
            #expect(scope!.count == 1 && !ended.isCompleted)
            scope = nil
            try loop.run(until: ended)
            #expect(seen.entries == ["member CancellationError()"])
            // One that never had a member is over, too.
            try loop.run(until: FutureScope(on: loop).ended)
        }
    }

    @Test(
        "a scope within a scope ends with it, and its failure is a failure of a member",
        arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                try await loop.scope { outer in
                    outer.run {
                        try await loop.scope { inner in
                            inner.run { try await Self.part("inner", for: .seconds(600), in: seen, on: loop) }
                        }
                    }
                    let other = FutureScope(on: loop)
                    other.run { try await Self.part("other", for: .seconds(600), in: seen, on: loop) }
                    outer.add(other.ended)
                    try await loop.scope { inner in
                        inner.run {
                            try await loop.sleep(for: .milliseconds(5)).value
                            throw Failure(5)
                        }
                        try await loop.sleep(for: .seconds(600)).value
                    }
                    withExtendedLifetime(other) {}
                }
            }
            expect(work, failsWith: Failure(5))
            #expect(Set(seen.entries) == ["inner CancellationError()", "other CancellationError()"])
        }
    }

    @Test("a scope that goes on at failures decides for each, and keeps the rest", arguments: Driver.allCases)
    func goesOn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop) { error in
                seen.add("\(error)")
                return error as? Failure == Failure(2) ? .end : .goOn
            }
            for number in 1...3 {
                scope.run {
                    try await loop.sleep(for: .milliseconds(10 * number)).value
                    throw Failure(number)
                }
            }
            expect(scope.ended, failsWith: Failure(2))
            #expect(seen.entries == ["\(Failure(1))", "\(Failure(2))"])
        }
    }

    @Test(
        "a clean-up that fails when the scope was cancelled is the failure of the scope",
        arguments: Driver.allCases)
    func failingCleanUp(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    scope.run {
                        do { try await loop.sleep(for: .seconds(600)).value } catch { throw Failure(7) }
                    }
                    try await loop.sleep(for: .milliseconds(5)).value
                    scope.cancel()
                    return 1
                }
            }
            expect(work, failsWith: Failure(7))
        }
    }

    @Test("a time limit that passes while a failed scope ends changes nothing", arguments: Driver.allCases)
    func limitWhileEnding(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Future(on: loop) {
                try await loop.scope(within: .milliseconds(10)) { scope in
                    scope.run {
                        do { try await loop.sleep(for: .seconds(600)).value } catch {
                            try await loop.sleep(for: .milliseconds(30)).ignoringCancellation().value
                        }
                    }
                    throw Failure(9)
                }
            }
            expect(work, failsWith: Failure(9))
        }
    }

    @Test("whoever awaits the member that fails adds no failure", arguments: Driver.allCases)
    func awaited(driver: Driver) throws {
        try withLoop(driver) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    let member = scope.run { () -> Int in
                        try await loop.sleep(for: .milliseconds(5)).value
                        throw Failure(8)
                    }
                    scope.run { _ = try await member.value }
                    return try await member.map { $0 + 1 }.value
                }
            }
            expect(work, failsWith: Failure(8))
            try settle(loop)
            #expect(reported == [])
        }
    }

    @Test("a callback of the last member may add another one")
    func addedLast() throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            let seen = Record()
            scope.run {}.whenSuccess {
                scope.run { try await Self.part("added", for: .milliseconds(5), in: seen, on: loop) }
            }
            try loop.run(until: scope.ended)
            #expect(seen.entries == ["added"])
            #expect(scope.run { Issue.record("it ran") }.isCancelled)
        }
    }

    @Test("cancelling the future of the end cancels the scope, and waits", arguments: Driver.allCases)
    func cancelledEnd(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (scope, seen) = (FutureScope(on: loop), Record())
            scope.run { try await Self.part("member", for: .seconds(600), in: seen, on: loop) }
            try settle(loop)
            #expect(scope.ended.cancel() && !scope.ended.isCompleted)
            try loop.run(until: scope.ended)
            #expect(seen.entries == ["member CancellationError()"])
        }
    }

    @Test(
        "when the loop shuts down, members end, and their errors are the loop's", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                do {
                    try await loop.scope { scope in
                        scope.run { try await Self.part("member", for: .seconds(600), in: seen, on: loop) }
                        try await Self.part("closure", for: .seconds(600), in: seen, on: loop)
                    }
                } catch { seen.add("\(error)") }
            }
            work.ignoreFailure()
            try settle(loop)
            loop.shutdown()
            #expect(
                seen.entries.count == 3 && seen.entries.allSatisfy { $0.contains("shut") }, "\(seen.entries)")
        }
    }

    @Test("a body that never awaits ends its scope as any other", arguments: Driver.allCases)
    func withoutAwait(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    scope.run { throw Failure(6) }
                    return 1
                }
            }
            expect(work, failsWith: Failure(6))
        }
    }

    @Test("members that have ended cost nothing: neither memory nor time")
    func many() throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            let kept = loop.makePromise(of: Void.self)
            scope.add(kept.future)
            try settle(loop)
            let before = loop.statistics.futures
            for _ in 0..<largeCount / 100 {
                for _ in 0..<100 { scope.run { try await loop.submit {}.value } }
                try settle(loop)
            }
            #expect(scope.count == 1 && loop.statistics.futures == before)
            kept.succeed()
            try loop.run(until: scope.ended)
        }
    }
}
