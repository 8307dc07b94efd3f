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

    @Test("more outcomes than there are futures are refused, and less than none", arguments: Driver.allCases)
    func tooMany(driver: Driver) throws {
        try withLoop(driver) { loop in
            for count in [3, -1] {
                expect(
                    Future.firstCompleted(count, of: [loop.succeeded(1), loop.succeeded(2)]),
                    failsWith: FutureError.invalidArgument(
                        "the first \(count) of 2 futures make no sense; give from 0 to 2"))
            }
        }
    }

    @Test(
        "select between two types takes the first to complete and cancels the other",
        arguments: Driver.allCases)
    func selectOr(driver: Driver) throws {
        try withLoop(driver) { loop in
            let parts = (loop.makePromise(of: Int.self), loop.makePromise(of: String.self))
            let selected = Future.select(parts.0.future, or: parts.1.future)
            parts.1.succeed("right")
            try expect(selected, succeedsWith: .right("right"))
            #expect("\(parts.0.future)" == "Future(cancelled)")
            let left = Future.select(loop.succeeded(1), or: loop.succeeded("second"))
            try expect(left, succeedsWith: .left(1))
        }
    }

    @Test("select between two types fails with the first to fail", arguments: Driver.allCases)
    func selectFails(driver: Driver) throws {
        try withLoop(driver) { loop in
            let slow = loop.makePromise(of: String.self)
            let failed = loop.failed(Failure(1), of: Int.self)
            expect(Future.select(failed, or: slow.future), failsWith: Failure(1))
            #expect("\(slow.future)" == "Future(cancelled)")
            let kept = loop.makePromise(of: String.self)
            expect(Future.select(failed, or: kept.future, cancelRemaining: false), failsWith: Failure(1))
            #expect(!kept.future.isCompleted)
            let pending = loop.makePromise(of: Int.self)
            #expect(!Future.select(pending.future, or: kept.future).isCompleted)
        }
    }

    @Test(
        "select from many gives the winner's place and outcome and the rest, which goes on",
        arguments: Driver.allCases)
    func selectFrom(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let selected = Future.select(from: promises.map(\.future))
            promises[1].fail(Failure(1))
            let selection = try loop.run(until: selected)
            #expect(selection.index == 1)
            #expect(throws: Failure(1)) { try selection.result.get() }
            promises[2].succeed(2)
            let next = try loop.run(until: Future.select(from: selection.rest))
            #expect(next.index == 1 && next.rest.count == 1)
            #expect(!promises[0].future.isCompleted)
            expect(
                Future<Int>.select(from: [], on: loop).map { _ in },
                failsWith: FutureError.invalidArgument("select was given no futures; give it at least one"))
            withExtendedLifetime(promises) {}
        }
    }

    @Test("an FutureEither is its left or its right thing, equal only on the same side")
    func either() throws {
        let (left, right) = (FutureEither<Int, String>.left(1), FutureEither<Int, String>.right("1"))
        #expect(left.left == 1 && left.right == nil)
        #expect(right.left == nil && right.right == "1")
        #expect(Set([left, right, .left(1), .left(2)]).count == 3)
        #expect(left.map(left: { $0 + 1 }, right: { $0.count }) == .left(2))
        for either in [left, right] {
            let text = either.map(left: { number in "\(number)" }, right: \.self).value
            #expect(text == "1")
        }
        #expect(throws: Failure(1)) {
            try right.map(left: { $0 }, right: { _ in throw Failure(1) }) as FutureEither<Int, Int>
        }
    }
}
