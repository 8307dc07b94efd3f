import Futures
import FuturesTesting
import Testing

struct SequencesTests {
    @Test("a future is a sequence of its value, or of its failure", arguments: Driver.allCases)
    func values(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            try loop.run(until: collect(loop.submit { 1 }.values, into: seen))
            #expect(seen.entries == ["1"])
            expect(collect(loop.failed(Failure(2), of: Int.self).values, into: seen), failsWith: Failure(2))
            let nothing: Int? = nil
            try loop.run(until: collect(loop.succeeded(nothing).values, into: seen))
            #expect(seen.entries == ["1", "nil"])
            let promise = loop.makePromise(of: Int.self)
            let cancelled = collect(promise.future.values, into: seen)
            try settle(loop)
            #expect(cancelled.cancel())
            try loop.run()
            #expect("\(promise.future)" == "Future(cancelled)")
        }
    }

    @Test("a group of futures is a sequence in the order of completion", arguments: Driver.allCases)
    func completionOrder(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let group = Future.inCompletionOrder(promises.map(\.future))
            promises[2].succeed(2)
            let done = collect(group, into: seen)
            promises[3].succeed(3)
            try settle(loop)
            promises[0].succeed(0)
            try settle(loop)
            promises[1].succeed(1)
            try loop.run(until: done)
            #expect(seen.entries == ["2", "3", "0", "1"])
            try loop.run(until: collect(Future<Int>.inCompletionOrder([], on: loop), into: seen))
            #expect(seen.entries.count == 4)
        }
    }

    @Test("a group's sequence has the order from before it is iterated, once", arguments: Driver.allCases)
    func completionOrderBefore(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let group = Future.inCompletionOrder(promises.map(\.future))
            for number in [2, 0, 1] {
                promises[number].succeed(number)
                try settle(loop)
            }
            #expect(try loop.run(until: group.first()) == 2)
            try loop.run(until: collect(group, into: seen))
            #expect(seen.entries == ["0", "1"])
            try loop.run(until: collect(group, into: seen))
            #expect(seen.entries.count == 2)
        }
    }

    @Test(
        "a group's sequence that nobody iterates cancels what is pending, and its failures are not lost",
        arguments: Driver.allCases)
    func completionOrderUnused(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add("\($0)") }
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            var group: LoopSequence<Int>? = Future.inCompletionOrder(promises.map(\.future))
            promises[0].succeed(0)
            promises[1].fail(Failure(1))
            try settle(loop)
            withExtendedLifetime(group) { #expect(seen.entries.isEmpty) }
            group = nil
            try settle(loop)
            #expect(seen.entries == ["\(Failure(1))"])
            #expect("\(promises[2].future)" == "Future(cancelled)")
            loop.onUnhandledFailure = nil
        }
    }

    @Test(
        "a group's sequence throws the first failure in its turn, and cancels the rest",
        arguments: Driver.allCases)
    func completionOrderFails(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let done = collect(Future.inCompletionOrder(promises.map(\.future)), into: seen)
            try settle(loop)
            promises[1].succeed(1)
            promises[0].fail(Failure(0))
            expect(done, failsWith: Failure(0))
            try settle(loop)
            #expect(seen.entries == ["1"])
            #expect("\(promises[2].future)" == "Future(cancelled)")
            let mixed = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let ended = collect(
                Future.inCompletionOrder(mixed.map(\.future), cancelRemaining: .onFailure), into: seen)
            mixed[0].cancel()
            expectCancelled(ended)
            try settle(loop)
            #expect(mixed[1].succeed(1))
            let kept = loop.makePromise(of: Int.self)
            let left = collect(Future.inCompletionOrder([kept.future], cancelRemaining: .never), into: seen)
            try settle(loop)
            #expect(left.cancel())
            try loop.run()
            #expect(kept.succeed(1))
        }
    }

    @Test(
        "a group's sequence that ends by a failure, or unused, cancels the rest with onFailure, too",
        arguments: Driver.allCases)
    func completionOrderOnFailure(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let failing = collect(
                Future.inCompletionOrder(promises[..<2].map(\.future), cancelRemaining: .onFailure),
                into: Record())
            try settle(loop)
            promises[0].fail(Failure(0))
            expect(failing, failsWith: Failure(0))
            try settle(loop)
            #expect("\(promises[1].future)" == "Future(cancelled)")
            var unused: LoopSequence<Int>? = Future.inCompletionOrder(
                [promises[2].future], cancelRemaining: .onFailure)
            withExtendedLifetime(unused) { #expect(!promises[2].future.isCompleted) }
            unused = nil
            try settle(loop)
            #expect("\(promises[2].future)" == "Future(cancelled)")
        }
    }

    @Test("a body takes the value of a future of a group within the callback that brings it")
    func completionOrderWithin() {
        let loop = EventLoop.virtual()
        let seen = Record()
        let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
        Consumer.body.start(Future.inCompletionOrder(promises.map { $0.future }), seen, on: loop)
        loop.advance(by: .zero)
        loop.later {
            for number in [2, 0, 1] { promises[number].succeed(number) }
            loop.later { seen.add("other work") }
        }
        loop.advance(by: .zero)
        #expect(seen.entries == ["2", "0", "1", "other work", "end"])
        loop.shutdown()
    }

    @Test("a group's sequence comes to tasks of all kinds, and to two of them", arguments: Consumer.allCases)
    func completionOrderConsumers(consumer: Consumer) {
        let loop = EventLoop.virtual()
        let (first, second) = (Record(), Record())
        let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
        let group = Future.inCompletionOrder(promises.map { $0.future })
        consumer.start(group, first, on: loop)
        consumer.start(group, second, on: loop)
        loop.advance(by: .zero)
        for number in 0..<4 {
            promises[number].succeed(number)
            loop.advance(by: .zero)
        }
        #expect(first.entries == ["0", "2", "end"])
        #expect(second.entries == ["1", "3", "end"])
        loop.shutdown()
    }

    @Test("who takes one value of a group lets the rest of the group go", arguments: Driver.allCases)
    func completionOrderLeft(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let taken = Future(on: loop) {
                for try await value in Future.inCompletionOrder(promises.map { $0.future }) { return value }
                return 0
            }
            try settle(loop)
            promises[1].succeed(1)
            try expect(taken, succeedsWith: 1)
            for number in [0, 2] { #expect("\(promises[number].future)" == "Future(cancelled)") }
        }
    }

    @Test("a group's sequence that was left is over for who iterates it again")
    func completionOrderLeftAndAgain() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let group = Future.inCompletionOrder(promises.map(\.future))
            let first = group.first()
            promises[1].succeed(1)
            try expect(first, succeedsWith: 1)
            try settle(loop)
            try expect(group.first(), succeedsWith: nil)
            withExtendedLifetime(promises) {}
        }
    }

    @Test(
        "first is the first element of a sequence as a future, and stops the source",
        arguments: Driver.allCases)
    func first(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let numbers = Numbers(loop)
            let first = numbers.sequence.first()
            numbers.send(1)
            try expect(first, succeedsWith: 1)
            try settle(loop)
            #expect(numbers.seen.entries == ["asked", "stopped"])
            let none = numbers.sequence.first()
            numbers.send(nil)
            try expect(none, succeedsWith: nil)
            let late = numbers.sequence.first()
            numbers.send(2)
            #expect(!late.cancel())
            try expect(late, succeedsWith: 2)
            let cancelled = numbers.sequence.first()
            #expect(cancelled.cancel())
            try settle(loop)
            #expect("\(numbers.promises[0].future)" == "Future(cancelled)")
        }
    }
}
