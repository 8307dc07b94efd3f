import Futures
import FuturesTesting
import Testing

struct ReadyQueueTests {
    @Test("no callback runs inside the call that registers or completes", arguments: Driver.allCases)
    func deferred(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenComplete { seen.add($0) }
            promise.future.map { $0 + 1 }.whenSuccess { seen.add($0) }
            promise.succeed(1)
            #expect(promise.future.isCompleted)
            promise.future.whenComplete { _ in seen.add("late") }
            loop.succeeded(7).whenSuccess { seen.add($0) }
            loop.failed(Failure(), of: Int.self).whenFailure { _ in seen.add("failed") }
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries == ["1", "late", "7", "failed", "2"])
        }
    }

    @Test("no callback runs inside another one", arguments: Driver.allCases)
    func flat(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let inner = loop.makePromise(of: Int.self)
            inner.future.whenSuccess { seen.add("inner \($0)") }
            loop.succeeded(1).whenSuccess { _ in
                inner.succeed(2)
                inner.future.whenSuccess { _ in seen.add("last") }
                loop.succeeded(3).whenSuccess { seen.add($0) }
                seen.add("outer")
            }
            try settle(loop)
            #expect(seen.entries == ["outer", "inner 2", "last", "3"])
        }
    }

    @Test("between futures, the order is that of completion", arguments: Driver.allCases)
    func completionOrder(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            for promise in promises {
                promise.future.whenSuccess { seen.add("\($0)a") }
                promise.future.whenSuccess { seen.add("\($0)b") }
            }
            for index in [2, 0, 3, 1] { promises[index].succeed(index) }
            try settle(loop)
            #expect(seen.entries == ["2a", "2b", "0a", "0b", "3a", "3b", "1a", "1b"])
        }
    }

    @Test("a registration on a completed future goes to the end of the queue", arguments: Driver.allCases)
    func tail(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let first = loop.succeeded(1)
            let second = loop.makePromise(of: Int.self)
            second.future.whenSuccess { seen.add($0) }
            second.succeed(2)
            first.whenSuccess { seen.add($0) }
            try settle(loop)
            #expect(seen.entries == ["2", "1"])
        }
    }

    @Test("steps of two chains alternate", arguments: Driver.allCases)
    func interleaving(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func chain(_ name: String) {
                loop.succeeded(0).map { _ in seen.add("\(name)1") }.map { seen.add("\(name)2") }
                    .whenSuccess { seen.add("\(name)3") }
            }
            chain("a")
            chain("b")
            try settle(loop)
            #expect(seen.entries == ["a1", "b1", "a2", "b2", "a3", "b3"])
        }
    }

    @Test("a promise may be dropped in its own callback", arguments: Driver.allCases)
    func droppedInCallback(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<[Int]>? = loop.makePromise()
            promise?.future.whenSuccess {
                promise = nil
                seen.add($0)
            }
            promise?.future.whenSuccess { seen.add($0) }
            promise?.succeed([1, 2])
            try settle(loop)
            #expect(seen.entries == ["[1, 2]", "[1, 2]"])
        }
    }

    @Test("the steps of a chain run in one turn")
    func chain() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let last = (0..<10).reduce(promise.future) { future, _ in future.map { $0 + 1 } }
            promise.succeed(0)
            let turns = loop.statistics.turns
            loop.advance(by: .zero)
            #expect(last.now == 10 && loop.statistics.turns == turns + 1)
        }
    }
}
