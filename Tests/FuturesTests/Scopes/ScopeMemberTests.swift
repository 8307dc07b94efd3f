import Futures
import FuturesTesting
import TestSupport
import Testing

/// An object that notes what a scope tells it, and ends when the test says so.
private final class Part: ScopeMember {
    let end: Promise<Void>
    let seen: Record
    let name: String
    let drains: Bool

    init(_ name: String, in seen: Record, drains: Bool = true, on loop: EventLoop) {
        (self.name, self.seen, self.drains) = (name, seen, drains)
        end = loop.makePromise()
    }

    var membership: ScopeMembership {
        ScopeMembership(
            ended: end.future, cancel: { [self] in seen.add("\(name) cancelled") },
            drain: drains ? { [self] in seen.add("\(name) has \($0)") } : nil)
    }
}

struct ScopeMemberTests {
    @Test("a cancelled scope ends its objects in order, and ends when they have ended")
    func cancel() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let parts = (1...3).map { scope.add(Part("\($0)", in: seen, on: loop)) }
            #expect(scope.count == 3)
            parts[0].end.succeed()
            try settle(loop)
            #expect(scope.count == 2 && !scope.isCancelled)
            scope.cancel()
            #expect(seen.entries == ["2 cancelled", "3 cancelled"])
            parts[2].end.succeed()
            try settle(loop)
            #expect(!scope.ended.isCompleted)
            parts[1].end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test(
        "an object that fails ends the others, and what it failed with comes out; a second failure is reported"
    )
    func failure() throws {
        try withLoop(.virtual) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            let seen = Record()
            let scope = FutureScope(on: loop)
            let parts = (1...2).map { scope.add(Part("\($0)", in: seen, on: loop)) }
            parts[0].end.fail(Failure(1))
            try settle(loop)
            #expect(seen.entries == ["2 cancelled"])
            parts[1].end.fail(Failure(2))
            expect(scope.ended, failsWith: Failure(1))
            try settle(loop)
            #expect(reported == ["\(Failure(2))"])
        }
    }

    @Test("an object that is added too late is ended at once", arguments: [false, true])
    func late(isOver: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add("reported \($0)") }
            let scope = FutureScope(on: loop)
            let member = Part("member", in: seen, on: loop)
            scope.add(member)
            scope.cancel()
            if isOver {
                member.end.succeed()
                try loop.run(until: scope.ended)
            }
            let late = scope.add(Part("late", in: seen, on: loop))
            #expect(seen.entries == ["member cancelled", "late cancelled"])
            member.end.succeed()
            late.end.fail(Failure(1))
            // A scope that is over has no failure.
            if isOver { try loop.run(until: scope.ended) } else { expect(scope.ended, failsWith: Failure(1)) }
            try settle(loop)
            #expect(seen.entries.count == 2)
        }
    }

    @Test("what has ended is released, and so is the closure that would have ended it")
    func released() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let lasting = scope.add(Part("lasting", in: seen, on: loop))
            let promise = loop.makePromise(of: Void.self)
            do {
                let witness = Witness { seen.add("released") }
                scope.add(
                    ScopeMembership(
                        ended: promise.future, cancel: { witness.look() }, drain: { _ in witness.look() }))
            }
            promise.succeed()
            try settle(loop)
            #expect(seen.entries == ["released"])
            lasting.end.succeed()
        }
    }

    @Test("a scope that drains tells its members how long they have, and cancels them after that")
    func drain() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let draining = scope.draining
            draining.whenSuccess { seen.add("drains") }
            let first = scope.add(Part("first", in: seen, on: loop))
            let waited = scope.add(Part("waited for", in: seen, drains: false, on: loop))
            let body = scope.run {
                try await scope.draining.value
                try await loop.sleep(for: .seconds(1)).value
                seen.add("body has ended")
            }
            try settle(loop)
            #expect(!scope.isDraining)
            let ended = scope.drain(within: .seconds(10))
            #expect(scope.isDraining && scope.draining.isSuccess)
            try pass(.seconds(4), on: loop)
            let late = scope.add(Part("late", in: seen, on: loop))
            first.end.succeed()
            try pass(.seconds(5), on: loop)
            #expect(body.isSuccess && !scope.isCancelled)
            try pass(.seconds(1), on: loop)
            #expect(scope.isCancelled && !ended.isCompleted)
            waited.end.succeed()
            late.end.succeed()
            try loop.run(until: ended)
            #expect(
                seen.entries == [
                    "first has \(Duration.seconds(10))", "drains", "body has ended",
                    "late has \(Duration.seconds(6))", "waited for cancelled", "late cancelled",
                ])
        }
    }

    @Test(
        "a body in the background is cancelled by a drain, and does not start after it",
        arguments: Driver.allCases)
    func background(driver: Driver) throws {
        try withLoop(driver) { loop in
            let scope = FutureScope(on: loop)
            let background = scope.run(onDrain: .cancel) {
                do { try await loop.sleep(for: .seconds(600)).value } catch {
                    try await loop.shielded(within: .seconds(1)) {
                        try await loop.sleep(for: .ticks(1)).value
                    }
                    throw error
                }
            }
            let other = scope.run { try await loop.sleep(for: .ticks(2)).value }
            try settle(loop)
            let ended = scope.drain(within: .seconds(600))
            #expect(!background.isCompleted)
            let late = scope.run(onDrain: .cancel) { Issue.record("it ran") }
            #expect(late.isCancelled)
            try loop.run(until: ended)
            #expect(background.isCancelled && other.isSuccess)
        }
    }

    @Test("of several drains, the one that ends first counts, and of two equal ones the first")
    func equalDrains() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let part = scope.add(Part("part", in: seen, on: loop))
            for _ in 0..<2 { scope.drain(within: .seconds(5)) }
            #expect(seen.entries == ["part has \(Duration.seconds(5))"] && loop.statistics.timers == 1)
            part.end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test("a drain within no time cancels in the next turn")
    func drainWithoutTime() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let part = scope.add(Part("part", in: seen, on: loop))
            scope.drain(within: .zero)
            #expect(!scope.isCancelled)
            loop.advance(by: .zero)
            #expect(seen.entries == ["part has \(Duration.zero)", "part cancelled"])
            part.end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test("of several drains, the one that ends first counts", arguments: [false, true])
    func secondDrain(isShorter: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let part = scope.add(Part("part", in: seen, on: loop))
            scope.drain(within: .seconds(5))
            scope.drain(within: .seconds(isShorter ? 2 : 9))
            try pass(.seconds(isShorter ? 2 : 5), on: loop)
            #expect(
                seen.entries == ["part has \(Duration.seconds(5))"]
                    + (isShorter ? ["part has \(Duration.seconds(2))"] : []) + ["part cancelled"])
            part.end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test("a scope in a scope drains in the time of the outer one, and fails it")
    func nested() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let outer = FutureScope(on: loop)
            let inner = outer.add(FutureScope(on: loop))
            let part = inner.add(Part("part", in: seen, on: loop))
            outer.drain(within: .seconds(3))
            #expect(inner.isDraining && seen.entries == ["part has \(Duration.seconds(3))"])
            part.end.fail(Failure(3))
            expect(outer.ended, failsWith: Failure(3))
            #expect(inner.isCancelled)
        }
    }

    @Test("a resource is released when the last other member has ended, unless another one comes")
    func resource() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let end = loop.makePromise(of: Void.self)
            scope.add(
                ScopeMembership(
                    ended: end.future, cancel: { seen.add("cancelled") }, release: { seen.add("released") }))
            try settle(loop)
            let second = scope.run { try await loop.sleep(for: .seconds(1)).value }
                .tap { scope.run { try await loop.sleep(for: .seconds(1)).value } }
            try loop.run(until: second)
            try settle(loop)
            #expect(seen.entries == [])
            try pass(.seconds(1), on: loop)
            #expect(seen.entries == ["released"] && !scope.ended.isCompleted)
            end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test("each resource is released once, however many of them end after that", arguments: [false, true])
    func releasedOnce(drains: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let ends = (0..<3).map { _ in loop.makePromise(of: Void.self) }
            for (number, end) in ends.enumerated() {
                scope.add(
                    ScopeMembership(
                        ended: end.future, cancel: {}, release: { seen.add("released \(number)") }))
            }
            if !drains { scope.run {} }
            for end in ends {
                if drains { scope.drain(within: .seconds(60)) }
                try settle(loop)
                #expect(seen.entries == ["released 0", "released 1", "released 2"])
                end.succeed()
            }
            try loop.run(until: scope.ended)
            #expect(seen.entries.count == 3)
        }
    }

    @Test(
        "a resource that ends releases no other one, as long as nobody has worked", arguments: [false, true])
    func notReleased(isOver: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let (other, end) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
            scope.add(ScopeMembership(ended: end.future, cancel: {}, release: { seen.add("released") }))
            if isOver { other.succeed() }
            scope.add(ScopeMembership(ended: other.future, cancel: {}, release: {}))
            other.succeed()
            try settle(loop)
            #expect(seen.entries == [] && scope.count == 1)
            scope.run {}
            try settle(loop)
            #expect(seen.entries == ["released"])
            end.succeed()
            try loop.run(until: scope.ended)
        }
    }

    @Test(
        "the time limit of a scope cancels it, also while it drains because of a failure",
        arguments: Driver.allCases)
    func limitWhileDraining(driver: Driver) throws {
        try withLoop(driver) { loop in
            let scope = FutureScope(on: loop, within: .ticks(2)) { _ in .drain(within: .seconds(600)) }
            let work = scope.run { try await loop.sleep(for: .seconds(900)).value }
            scope.run { throw Failure(1) }
            expect(scope.ended, failsWith: Failure(1))
            #expect(work.isCancelled && scope.isCancelled)
        }
    }

    @Test("of two failures, one within the decision about the other, one comes out and the other is reported")
    func failureWithinDecision() throws {
        try withLoop(.virtual) { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            let inner = loop.makePromise(of: Void.self)
            inner.onCancelRequest {
                inner.fail(Failure(2))
                return .continue
            }
            var scope: FutureScope!
            scope = FutureScope(on: loop) { _ in
                scope.cancel()
                return .end
            }
            scope.add(inner.future)
            scope.run { throw Failure(1) }
            var seen: [String] = []
            do { try loop.run(until: scope.ended) } catch { seen.append("\(error)") }
            try settle(loop)
            seen += reported
            #expect(seen.sorted() == ["\(Failure(1))", "\(Failure(2))"] && reported.count == 1)
            scope = nil
        }
    }

    @Test(
        "a body that is cancelled last goes on while others work or drain, and ends with the last of them",
        arguments: Driver.allCases)
    func cancelledLast(driver: Driver) throws {
        for isDrained in [false, true] {
            try withLoop(driver) { loop in
                let seen = Record()
                let scope = FutureScope(on: loop)
                scope.run(onDrain: .cancelLast) {
                    do { try await loop.sleep(for: .seconds(600)).value } catch {
                        try await loop.shielded(within: .seconds(5)) {
                            try await loop.sleep(for: .ticks(1)).value
                        }
                        seen.add("last")
                        throw error
                    }
                }
                scope.run {
                    try await loop.sleep(for: .ticks(2)).value
                    seen.add("work")
                }
                try settle(loop)
                if isDrained { scope.drain(within: .seconds(60)) }
                try loop.run(until: scope.ended)
                #expect(seen.entries == ["work", "last"])
                #expect(!scope.isCancelled)
            }
        }
    }

    @Test("a body that is cancelled last ends with the others, and starts while its scope drains")
    func cancelledLastAtOnce() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            func last(_ name: String) {
                scope.run(onDrain: .cancelLast) {
                    defer { seen.add(name) }
                    try await loop.sleep(for: .seconds(600)).value
                }
            }
            let work = scope.run { try await loop.sleep(for: .seconds(600)).value }
            last("first")
            scope.drain(within: .seconds(60))
            last("second")
            try settle(loop)
            #expect(seen.entries == [] && scope.count == 3)
            scope.cancel()
            try loop.run(until: scope.ended)
            #expect(seen.entries.sorted() == ["first", "second"] && work.isCancelled)
        }
    }

    @Test("a failure may let the others finish, and comes out when they have", arguments: Driver.allCases)
    func drainAtFailure(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop) {
                seen.add($0)
                return .drain(within: .ticks(4))
            }
            scope.run {
                try await scope.draining.value
                try await loop.sleep(for: .ticks(1)).value
                seen.add("finished")
            }
            scope.run {
                do { try await loop.sleep(for: .seconds(600)).value } catch {
                    seen.add("cut off")
                    throw error
                }
            }
            scope.run { throw Failure(1) }
            expect(scope.ended, failsWith: Failure(1))
            #expect(seen.entries == ["\(Failure(1))", "finished", "cut off"])
        }
    }

    @Test("a scope without members ends when it drains, and nobody hears of a drain that does not come")
    func empty() throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            try loop.run(until: scope.drain(within: .seconds(600)))
            for isCancelled in [false, true] {
                let other = FutureScope(on: loop)
                let draining = other.draining
                if isCancelled { other.cancel() } else { other.run {} }
                try loop.run(until: other.ended)
                #expect(draining.isCancelled && other.draining.isCancelled)
            }
        }
    }

    @Test("a negative grace is refused, and changes nothing")
    func negative() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            let part = scope.add(Part("part", in: seen, on: loop))
            expect(
                scope.drain(within: .seconds(-1)),
                failsWith: FutureError.invalidArgument(
                    "a delay of -1.0 seconds is negative; give zero or more"))
            #expect(!scope.isDraining && seen.entries == [])
            part.end.succeed()
        }
    }

    @Test("a timer is a member: it is cancelled with the others, and its failure is the scope's")
    func timers() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let scope = FutureScope(on: loop)
            scope.add(loop.repeat(every: .seconds(1)) { seen.add("tick") })
            scope.add(loop.schedule(after: .milliseconds(500)) { "a value" })
            scope.add(
                loop.schedule(after: .milliseconds(2500)) { () -> Int in throw Failure(4) })
            expect(scope.ended, failsWith: Failure(4))
            #expect(seen.entries == ["tick", "tick"])
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test(
        "results come in the order of start or of end, and so many members run at a time as a semaphore lets")
    func results() throws {
        try withLoop(.virtual) { loop in
            let running = Record()
            let work = Future(on: loop) {
                try await loop.scope { scope in
                    let semaphore = FutureSemaphore(count: 2, on: loop)
                    let members = [30, 10, 20].map { time in
                        scope.run {
                            let permit = try await semaphore.acquire().value
                            defer { permit.release() }
                            running.add("\(time) of \(semaphore.limit - semaphore.available)")
                            try await loop.sleep(for: .milliseconds(time)).value
                            return time
                        }
                    }
                    var ends: [Int] = []
                    for try await time in Future.inCompletionOrder(members) { ends.append(time) }
                    return (try await Future.all(members).value, ends)
                }
            }
            let (starts, ends) = try loop.run(until: work)
            #expect(starts == [30, 10, 20] && ends == [10, 30, 20])
            #expect(running.entries == ["30 of 1", "10 of 2", "20 of 2"])
        }
    }
}
