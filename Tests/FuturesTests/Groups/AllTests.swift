import Futures
import Testing

struct AllTests {
    @Test(
        "all gives the values in the order of its inputs, however they complete",
        arguments: Driver.allCases
    )
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<5).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future))
            for index in [3, 0, 4, 1] { promises[index].succeed(index) }
            try settle(loop)
            #expect(!all.isCompleted)
            promises[2].succeed(2)
            try expect(all, succeedsWith: [0, 1, 2, 3, 4])
        }
    }

    @Test("all takes completed futures, the same one twice, and optional values", arguments: Driver.allCases)
    func inputs(driver: Driver) throws {
        try withLoop(driver) { loop in
            let shared = loop.submit { Int?.none }
            try expect(Future.all([shared, loop.succeeded(1), shared]), succeedsWith: [nil, 1, nil])
            let many = (0..<10_000).map { index in loop.submit { index } }
            try expect(Future.all(many), succeedsWith: Array(0..<10_000))
        }
    }

    @Test(
        "all of nothing succeeds on the loop that is given, or on the current one",
        arguments: Driver.allCases
    )
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(Future<Int>.all([], on: loop), succeedsWith: [])
            try expect(loop.submit {}.flatMap { Future<Int>.all([]) }, succeedsWith: [])
        }
    }

    @Test("all ends with the first failure or cancellation, and cancels the rest", arguments: Driver.allCases)
    func failsFast(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future))
            promises[0].succeed(0)
            promises[1].fail(Failure(1))
            expect(all, failsWith: Failure(1))
            #expect("\(promises[2].future)" == "Future(cancelled)")

            let others = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let cancelled = Future.all(others.map(\.future))
            others[1].cancel()
            expectCancelled(cancelled)
            #expect("\(others[0].future)" == "Future(cancelled)")
        }
    }

    @Test("all, race and and leave alone what others wait for", arguments: Driver.allCases)
    func shared(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let shared = loop.makePromise(of: Int.self)
            shared.future.whenComplete { seen.add($0) }
            expect(Future.all([shared.future, loop.failed(Failure(1))]), failsWith: Failure(1))
            try expect(Future.race([shared.future, loop.succeeded(2)]), succeedsWith: 2)
            expect(
                shared.future.and(loop.failed(Failure(3), of: Int.self)).map { $0.0 }, failsWith: Failure(3))
            #expect(!shared.future.isCompleted)
            shared.succeed(4)
            try settle(loop)
            #expect(seen.entries == ["4"])
        }
    }

    @Test("cancelling a group cancels its inputs", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            func inputs() -> [Promise<Int>] { (0..<3).map { _ in loop.makePromise() } }
            let (gathered, raced, paired) = (inputs(), inputs(), inputs())
            #expect(Future.all(gathered.map(\.future)).map { $0 }.cancel())
            #expect(Future.race(raced.map(\.future)).cancel())
            #expect(paired[0].future.and(paired[1].future).cancel())
            #expect(paired[2].future.cancel())
            for promise in gathered + raced + paired { #expect("\(promise.future)" == "Future(cancelled)") }
        }
    }

    @Test("and and zip give both values, of two types", arguments: Driver.allCases)
    func and(driver: Driver) throws {
        try withLoop(driver) { loop in
            let number = loop.makePromise(of: Int.self)
            let text = loop.makePromise(of: String?.self)
            let pair = number.future.and(text.future).map { "\($0.0) \($0.1 ?? "nil")" }
            text.succeed(nil)
            try settle(loop)
            #expect(!pair.isCompleted)
            number.succeed(1)
            try expect(pair, succeedsWith: "1 nil")
            let zipped = loop.succeeded(2).and(loop.succeeded("b")).map { "\($0.0) \($0.1)" }
            try expect(zipped, succeedsWith: "2 b")
        }
    }

    @Test("and ends with the first failure and cancels the other", arguments: Driver.allCases)
    func andFails(driver: Driver) throws {
        try withLoop(driver) { loop in
            let other = loop.makePromise(of: Int.self)
            expect(
                loop.failed(Failure(1), of: Int.self).and(other.future).map { $0.0 }, failsWith: Failure(1))
            #expect("\(other.future)" == "Future(cancelled)")
        }
    }
}
