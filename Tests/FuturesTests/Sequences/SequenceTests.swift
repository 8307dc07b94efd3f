import Futures
import Testing

struct SequenceTests {
    /// A sequence of the numbers that the test sends, which notes what is asked of it.
    private final class Numbers {
        let loop: EventLoop
        let seen = Record()
        var promises: [Promise<Int?>] = []

        init(_ loop: EventLoop) { self.loop = loop }

        var sequence: LoopSequence<Int> {
            LoopSequence(on: loop) { [self] in
                LoopSequence.AsyncIterator(next: ask) { self.seen.add("stopped") }
            }
        }

        private func ask() -> Future<Int?> {
            seen.add("asked")
            let promise = loop.makePromise(of: Int?.self)
            promises.append(promise)
            return promise.future
        }

        func send(_ number: Int?) { promises.removeFirst().succeed(number) }
    }

    private func collect<Element>(_ sequence: LoopSequence<Element>, into record: Record) -> Future<Void> {
        Future(on: sequence.loop) {
            for try await element in sequence {
                #expect(sequence.loop.isCurrent)
                record.add(element)
            }
        }
    }

    @Test(
        "a sequence asks for an element when its consumer does, and stops its source at the end",
        arguments: Driver.allCases)
    func pulls(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let numbers = Numbers(loop)
            let sequence = numbers.sequence
            try settle(loop)
            #expect(numbers.seen.entries.isEmpty)
            let done = collect(sequence, into: numbers.seen)
            for number in [1, 2] {
                try settle(loop)
                numbers.send(number)
            }
            try settle(loop)
            numbers.send(nil)
            try loop.run(until: done)
            #expect(numbers.seen.entries == ["asked", "1", "asked", "2", "asked", "stopped"])
        }
    }

    @Test("a sequence whose source fails throws that once, and ends", arguments: Driver.allCases)
    func fails(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let numbers = Numbers(loop)
            let future = Future(on: loop) {
                var iterator = numbers.sequence.makeAsyncIterator()
                do {
                    _ = try await iterator.next()
                } catch {
                    numbers.seen.add(error)
                }
                let after = try await iterator.next()
                #expect(after == nil)
            }
            try settle(loop)
            numbers.promises[0].fail(Failure(1))
            try loop.run(until: future)
            #expect(numbers.seen.entries == ["asked", "stopped", "Failure(code: 1)"])
        }
    }

    @Test(
        "leaving a loop over a sequence stops its source, and so does cancelling the task",
        arguments: Driver.allCases)
    func leaves(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let numbers = Numbers(loop)
            let left = Future(on: loop) {
                for try await number in numbers.sequence { return number }
                return 0
            }
            try settle(loop)
            numbers.send(7)
            try expect(left, succeedsWith: 7)
            try settle(loop)
            #expect(numbers.seen.entries == ["asked", "stopped"])
            let cancelled = collect(numbers.sequence, into: numbers.seen)
            try settle(loop)
            #expect(cancelled.cancel())
            try loop.run()
            #expect(numbers.seen.entries == ["asked", "stopped", "asked", "stopped"])
            #expect("\(numbers.promises[0].future)" == "Future(cancelled)")
        }
    }

    @Test("a next that is cancelled or timed out loses no element", arguments: Driver.allCases)
    func losesNothing(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            var promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            let iterator = Future.inCompletionOrder(promises.map(\.future)).makeAsyncIterator()
            expect(
                iterator.pull().timeout(after: .ticks(1)), failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(iterator.pull().cancel())
            promises[1].succeed(1)
            try expect(iterator.pull().map { $0 ?? 0 }, succeedsWith: 1)
            promises[0].succeed(2)
            try expect(iterator.pull().map { $0 ?? 0 }, succeedsWith: 2)
            try expect(iterator.pull().map { $0 ?? 0 }, succeedsWith: 0)
            promises = []
        }
    }

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
        "ticks come at the instants of their interval, and those that a slow consumer misses do not",
        arguments: Driver.allCases)
    func ticks(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let start = loop.now
            let future = Future(on: loop) {
                var ticks = loop.ticks(every: .ticks(2)).makeAsyncIterator()
                var instants: [Duration] = []
                for pause in [0, 5, 0] {
                    let tick = try await ticks.next()
                    instants.append(start.duration(to: tick!))
                    if pause > 0 { try await loop.sleep(for: .ticks(pause)).value }
                }
                return instants
            }
            let instants = try loop.run(until: future)
            if driver == .virtual { #expect(instants == [.ticks(2), .ticks(4), .ticks(10)]) }
            #expect(zip(instants, [2, 4, 10]).allSatisfy { $0 >= .ticks($1) })
            #expect(loop.statistics.timers == 0)
            let none = loop.ticks(every: .zero).first()
            let text = "an interval of \(Duration.zero) is not positive; give more than zero"
            expect(none, failsWith: FutureError.invalidArgument(text))
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

    @Test("hold keeps an outcome back until another future has completed", arguments: Driver.allCases)
    func hold(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let gate = loop.makePromise(of: Void.self)
            let held = loop.succeeded(1).delay(until: gate.future)
            let failed = loop.failed(Failure(2), of: Int.self).delay(until: gate.future)
            let early = loop.makePromise(of: Int.self)
            let late = early.future.delay(until: gate.future)
            try settle(loop)
            #expect(!held.isCompleted && !failed.isCompleted)
            gate.succeed()
            try expect(held, succeedsWith: 1)
            expect(failed, failsWith: Failure(2))
            #expect(!late.isCompleted)
            early.succeed(3)
            try expect(late, succeedsWith: 3)
            expect(
                loop.succeeded(1).delay(until: loop.failed(Failure(4), of: Int.self)), failsWith: Failure(4))
            let first = Numbers(loop)
            let until = loop.succeeded(5).delay(until: first.sequence.first())
            try settle(loop)
            first.send(0)
            try expect(until, succeedsWith: 5)
        }
    }
}
