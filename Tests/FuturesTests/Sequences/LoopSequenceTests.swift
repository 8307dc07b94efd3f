import Futures
import Testing

struct LoopSequenceTests {
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

    @Test("who releases the iterator of a sequence made of others cancels its wait, and stops the sources")
    func released() throws {
        try withLoop(.virtual) { loop in
            let sources = (0..<4).map { _ in Numbers(loop) }
            let numbers = sources.map(\.sequence)
            let waits = [
                numbers[0].mapFuture { loop.succeeded($0) }.makeAsyncIterator().pull().asVoid(),
                numbers[1].merge(with: numbers[2]).makeAsyncIterator().pull().asVoid(),
                numbers[3].zip(LoopSequence<Int>(on: loop) { .init { loop.succeeded(1) } })
                    .makeAsyncIterator().pull().asVoid(),
            ]
            try settle(loop)
            for wait in waits { #expect(wait.isCancelled) }
            for source in sources { #expect(source.seen.entries == ["asked", "stopped"]) }
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

    nonisolated(nonsending)
        private func all<Elements: AsyncSequence>(of elements: Elements) async throws -> [Elements.Element]
    {
        var all: [Elements.Element] = []
        for try await element in elements { all.append(element) }
        return all
    }

    @Test("code that is generic over sequences gets the elements, too", arguments: Driver.allCases)
    func generic(driver: Driver) throws {
        try withLoop(driver) { loop in
            let numbers = Numbers(loop)
            let body = Future(on: loop) {
                let all = try await all(of: numbers.sequence)
                #expect(loop.isCurrent)
                return all
            }
            for number in [1, 2, nil] {
                try settle(loop)
                numbers.send(number)
            }
            try expect(body, succeedsWith: [1, 2])
        }
    }

    @Test("an iterator that no sequence has made gets its elements, too")
    func iterator() throws {
        try withLoop(.virtual) { loop in
            let numbers = Numbers(loop)
            let body = Future(on: loop) {
                var iterator = LoopSequence<Int>.AsyncIterator { loop.succeeded(7) }
                let first = try await iterator.next()
                iterator = numbers.sequence.makeAsyncIterator()
                return [first, try await iterator.next()]
            }
            try settle(loop)
            numbers.send(8)
            try expect(body, succeedsWith: [7, 8])
        }
    }
}
