import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Rules that trio's nurseries and Swift's task groups have, too, and that are broken by rare orders of events.
struct ScopeRulesTests {
    @Test(
        "who ends the future of a member early leaves the member in its scope, which fails with it",
        arguments: [CancelOptions.doNotForward, .immediately], [false, true])
    func endedEarly(options: CancelOptions, isBody: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Void.self)
            promise.onCancelRequest { .continue }
            if !isBody {
                loop.schedule(after: .milliseconds(50)) {
                    seen.add("member")
                    promise.fail(Failure(1))
                }
            }
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    func part() async throws {
                        try await loop.shielded(within: .seconds(1)) {
                            try await loop.sleep(for: .milliseconds(50)).value
                        }
                        seen.add("member")
                        throw Failure(1)
                    }
                    let member =
                        if isBody {
                            scope.run { try await part() }
                        } else {
                            scope.add(promise.future)
                        }
                    try await loop.submit {}.value
                    member.cancel(options)
                    #expect(member.isCompleted)
                }
            }
            expect(work, failsWith: Failure(1))
            #expect(seen.entries == ["member"])
        }
    }

    @Test(
        "what a member fails with after its future was ended early is reported, if it is not the first failure"
    )
    func reportedLater() throws {
        try withLoop(.virtual) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            let scope = FutureScope(on: loop)
            let (first, second) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
            second.onCancelRequest { .continue }
            scope.add(first.future)
            scope.add(second.future).cancel(.doNotForward)
            first.fail(Failure(1))
            second.fail(Failure(2))
            expect(scope.ended, failsWith: Failure(1))
            try settle(loop)
            #expect(reported == ["\(Failure(2))"])
        }
    }

    @Test(
        "of two failures of which one comes while the other is decided about, the second to be decided is reported"
    )
    func decidedWithin() throws {
        try withLoop(.virtual) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            var scope: FutureScope!
            scope = FutureScope(on: loop) { error in
                if error as? Failure == Failure(1) { scope.add(loop.failed(Failure(2)) as Future<Void>) }
                return .end
            }
            let member = loop.makePromise(of: Void.self)
            scope.add(member.future)
            member.fail(Failure(1))
            expect(scope.ended, failsWith: Failure(2))
            try settle(loop)
            #expect(reported == ["\(Failure(1))"])
        }
    }

    @Test("a cancelled scope waits for what is added to it, and cancels that at once")
    func late() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let (object, future) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
            future.onCancelRequest {
                seen.add("future")
                return .continue
            }
            scope.run {
                do { try await loop.sleep(for: .seconds(600)).value } catch {
                    scope.add(ScopeMembership(ended: object.future, cancel: { seen.add("object") }))
                    scope.add(future.future)
                    #expect(scope.run { Issue.record("has started") }.isCompleted)
                }
            }
            try settle(loop)
            scope.cancel()
            try pass(.seconds(1), on: loop)
            #expect(seen.entries == ["object", "future"] && scope.count == 2 && !scope.ended.isCompleted)
            object.succeed()
            future.fail(Failure(1))
            expect(scope.ended, failsWith: Failure(1))
            let afterwards = loop.sleep(for: .seconds(600))
            expectCancelled(scope.add(afterwards))
            #expect(afterwards.isCancelled)
        }
    }

    @Test("a closure that is cancelled by what it waits for ends the other members")
    func ownCancellation() throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            let seen = Record()
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    scope.run {
                        do { for try await _ in loop.ticks(every: .seconds(1)) {} } catch {
                            seen.add("cancelled")
                            throw error
                        }
                    }
                    let part = scope.run { try await loop.sleep(for: .seconds(60)).value }
                    part.cancel()
                    try await part.value
                }
            }
            expectCancelled(work)
            #expect(seen.entries == ["cancelled"] && start.duration(to: loop.now) < .seconds(60))
        }
    }

    @Test("a scope that drains asks about each further failure", arguments: [false, true])
    func askedWhileDraining(ends: Bool) throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            let seen = Record()
            let scope = FutureScope(on: loop) { error in
                seen.add("\(error)")
                if error as? Failure == Failure(1) { return .drain(within: .seconds(600)) }
                return ends ? .end : .goOn
            }
            loop.onUnhandledFailure = { seen.add("reported \($0)") }
            scope.run { try await loop.sleep(for: .seconds(300)).value }
            scope.run { throw Failure(1) }
            scope.run {
                try await loop.sleep(for: .seconds(5)).value
                throw Failure(2)
            }
            expect(scope.ended, failsWith: Failure(1))
            try settle(loop)
            #expect(start.duration(to: loop.now) == (ends ? .seconds(5) : .seconds(300)))
            // The one that ends the scope does not come out.
            let rest = ends ? ["reported \(Failure(2))"] : []
            #expect(seen.entries == ["\(Failure(1))", "\(Failure(2))"] + rest)
        }
    }

    @Test(
        "a failure that comes in the same moment as the shutdown of the loop is reported",
        arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        for isOlder in [false, true] {
            let seen = Record()
            let loop = try driver.makeLoop()
            loop.onUnhandledFailure = { seen.add("\($0)") }
            let older = loop.makePromise(of: Void.self)
            let scope = FutureScope(on: loop)
            let promise = loop.makePromise(of: Void.self)
            scope.add(promise.future)
            if isOlder { scope.add(older.future) }
            scope.ended.whenFailure { seen.add("ended \($0)") }
            promise.fail(Failure(1))
            if isOlder { older.onCancelRequest { .continue } }
            loop.shutdown()
            #expect(seen.entries.contains("\(Failure(1))"), "\(seen.entries)")
        }
    }

    @Test("a time limit and a grace count, though nothing else keeps the loop", arguments: [false, true])
    func keepsLoop(drains: Bool) throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            let promise = loop.makePromise(of: Void.self)
            let scope = FutureScope(on: loop, within: drains ? nil : .seconds(10))
            scope.add(promise.future)
            if drains { scope.drain(within: .seconds(10)) }
            let ended = scope.ended.ignoreFailure()
            try loop.run()
            #expect(
                start.duration(to: loop.now) == .seconds(10) && ended.isCompleted && ended.isSuccess == drains
            )
        }
    }
}
