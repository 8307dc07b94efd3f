import Futures
import Testing

struct SelectTests {
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
}
