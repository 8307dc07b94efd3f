import Futures
import Testing

struct RaceTests {
    @Test("firstSuccess takes the first value, and errors do not count", arguments: Driver.allCases)
    func firstSuccess(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let first = Future.firstSuccess(promises.map(\.future))
            promises[0].fail(Failure(0))
            promises[1].cancel()
            try settle(loop)
            #expect(!first.isCompleted)
            promises[2].succeed(2)
            try expect(first, succeedsWith: 2)
            #expect("\(promises[3].future)" == "Future(cancelled)")
        }
    }

    @Test("firstSuccess fails with all errors in order if there is no value", arguments: Driver.allCases)
    func noSuccess(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let first = Future.firstSuccess(promises.map(\.future))
            promises[2].fail(Failure(2))
            promises[1].cancel()
            promises[0].fail(Failure(0))
            let error = #expect(throws: AggregateError.self) { try loop.run(until: first) }
            #expect(error?.errors as? [Failure] == [Failure(0), Failure(2)])
            let cancelled: Future<Int> = loop.failed(CancellationError())
            expectCancelled(Future.firstSuccess([cancelled, cancelled]))
            expect(
                Future<Int>.firstSuccess([], on: loop),
                failsWith: FutureError.invalidArgument(
                    "firstSuccess was given no futures; give it at least one"))
        }
    }

    @Test(
        "the first n outcomes come with their indices, in the order in which they came",
        arguments: Driver.allCases)
    func firstCompleted(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let first = Future.firstCompleted(2, of: promises.map(\.future))
            promises[3].fail(Failure(3))
            promises[1].succeed(1)
            promises[0].succeed(0)
            let seen = Record()
            for (index, result) in try loop.run(until: first) {
                seen.add(index)
                seen.add(result)
            }
            #expect(seen.entries == ["3", "failed: Failure(code: 3)", "1", "1"])
            #expect("\(promises[2].future)" == "Future(cancelled)")
            #expect(try loop.run(until: Future.firstCompleted(0, of: [loop.succeeded(1)])).isEmpty)
        }
    }

    @Test("the first of two outcomes, and both of two, are enough")
    func firstOrAll() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let futures = promises.map(\.future)
            let (first, both) = (Future.firstCompleted(1, of: futures), Future.firstCompleted(2, of: futures))
            promises[1].succeed(1)
            let winner = try loop.run(until: first).map { $0.index }
            #expect(winner == [1] && !both.isCompleted)
            promises[0].succeed(0)
            let order = try loop.run(until: both).map { $0.index }
            #expect(order == [1, 0])
        }
    }

    @Test("more outcomes than there are futures are refused, and less than none", arguments: Driver.allCases)
    func tooMany(driver: Driver) throws {
        try withLoop(driver) { loop in
            for count in [3, -1] {
                expect(
                    Future.firstCompleted(count, of: [loop.succeeded(1), loop.succeeded(2)]),
                    failsWith: FutureError.invalidArgument(
                        "count must be from 0 to 2, the number of futures, not \(count)"))
            }
        }
    }

    @Test("race takes the first outcome, whichever it is, and cancels the rest", arguments: Driver.allCases)
    func race(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectOutcome(_ expected: String, after complete: (Promise<Int>) -> Bool) throws {
                let seen = Record()
                let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
                let race = Future.race(promises.map(\.future))
                race.whenComplete { seen.add($0) }
                #expect(complete(promises[1]))
                promises[2].succeed(9)
                try settle(loop)
                #expect(seen.entries == [expected])
                #expect("\(promises[0].future)" == "Future(cancelled)")
            }
            try expectOutcome("1") { $0.succeed(1) }
            try expectOutcome("failed: Failure(code: 2)") { $0.fail(Failure(2)) }
            try expectOutcome("cancelled") { $0.cancel() }
        }
    }

    @Test("of several completed futures the first in order wins the race", arguments: Driver.allCases)
    func raceOfCompleted(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(
                Future.race([loop.succeeded(1), loop.failed(Failure(2)), loop.succeeded(3)]), succeedsWith: 1)
        }
    }

    @Test("a race of nothing is refused", arguments: Driver.allCases)
    func emptyRace(driver: Driver) throws {
        try withLoop(driver) { loop in
            expect(
                Future<Int>.race([], on: loop),
                failsWith: FutureError.invalidArgument("race was given no futures; give it at least one"))
        }
    }
}
