import Futures
import Testing

struct SequenceMapFutureTests {
    /// Steps that end when the test says so.
    private final class Work {
        let loop: EventLoop
        let seen = Record()
        var steps: [Int: Promise<String>] = [:]
        /// What comes of itself, in order.
        let source: [Promise<Int>]

        init(_ loop: EventLoop, elements: Int) {
            self.loop = loop
            source = (0..<elements).map { _ in loop.makePromise(of: Int.self) }
        }

        var elements: LoopSequence<Int> {
            LoopSequence(on: loop) { [self] in
                var index = 0
                return LoopSequence.AsyncIterator(next: {
                    guard index < self.source.count else { return self.loop.succeeded(nil) }
                    return self.source[index].future.map {
                        index += 1
                        return .some($0)
                    }
                })
            }
        }

        func step(_ number: Int) -> Future<String> {
            seen.add("begin \(number)")
            let promise = loop.makePromise(of: String.self)
            promise.onCancelRequest {
                self.seen.add("cancelled \(number)")
                return .cancel
            }
            steps[number] = promise
            return promise.future.map { $0 }
        }

        func collect(_ sequence: LoopSequence<String>) -> Future<Void> {
            Future(on: loop) {
                for try await text in sequence { self.seen.add(text) }
                self.seen.add("end")
            }
        }

        func arrive(_ number: Int) throws {
            source[number].succeed(number)
            try settle(loop)
            try settle(loop)
        }

        func finish(_ number: Int) throws {
            steps[number]!.succeed("value \(number)")
            try settle(loop)
            try settle(loop)
        }
    }

    @Test(
        "mapFuture runs an asynchronous step for each element, one after the other",
        arguments: Driver.allCases)
    func oneByOne(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let work = Work(loop, elements: 2)
            let done = work.collect(work.elements.mapFuture(work.step))
            for number in 0..<2 { try work.arrive(number) }
            for number in 0..<2 { try work.finish(number) }
            try loop.run(until: done)
            #expect(work.seen.entries == ["begin 0", "value 0", "begin 1", "value 1", "end"])
            work.steps = [:]
        }
    }

    @Test(
        "mapFuture runs up to its limit of steps at a time, and keeps the order", arguments: Driver.allCases)
    func limited(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let work = Work(loop, elements: 4)
            let done = work.collect(work.elements.mapFuture(maxConcurrent: 2, work.step))
            for number in 0..<4 { try work.arrive(number) }
            #expect(work.seen.entries == ["begin 0", "begin 1"])
            try work.finish(1)
            #expect(work.seen.entries == ["begin 0", "begin 1"])
            try work.finish(0)
            #expect(
                work.seen.entries == ["begin 0", "begin 1", "value 0", "value 1", "begin 2", "begin 3"])
            try work.finish(2)
            try work.finish(3)
            try loop.run(until: done)
            #expect(work.seen.entries.suffix(3) == ["value 2", "value 3", "end"])
            work.steps = [:]
        }
    }

    @Test("mapLatest cancels the step of an element when a newer one comes", arguments: Driver.allCases)
    func latest(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let work = Work(loop, elements: 3)
            let done = work.collect(work.elements.mapLatest(work.step))
            for number in 0..<3 { try work.arrive(number) }
            #expect(work.seen.entries == ["begin 0", "begin 1", "cancelled 0", "begin 2", "cancelled 1"])
            try work.finish(2)
            try loop.run(until: done)
            #expect(work.seen.entries.suffix(2) == ["value 2", "end"])
            work.steps = [:]
        }
    }

    @Test(
        "a step that throws or fails ends mapFuture after the values before it, and cancels those behind",
        arguments: Driver.allCases)
    func fails(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let work = Work(loop, elements: 3)
            let done = work.collect(
                work.elements.mapFuture(maxConcurrent: 3) { number in
                    if number == 1 { throw Failure(1) }
                    return work.step(number)
                })
            for number in 0..<3 { try work.arrive(number) }
            try work.finish(0)
            expect(done, failsWith: Failure(1))
            try settle(loop)
            #expect(work.seen.entries == ["begin 0", "begin 2", "value 0", "cancelled 2"])
            work.steps = [:]
            let failing = LoopSequence<Int>(on: loop) { .init(next: { loop.failed(Failure(2)) }) }
            expect(failing.mapFuture(work.step).first(), failsWith: Failure(2))
            expect(failing.mapLatest(work.step).first(), failsWith: Failure(2))
            let text = "maxConcurrent must be at least 1, not 0"
            expect(
                work.elements.mapFuture(maxConcurrent: 0, work.step).first(),
                failsWith: FutureError.invalidArgument(text))
        }
    }

    @Test(
        "a cancelled next of mapFuture loses no value, and releasing the iterator cancels the steps",
        arguments: Driver.allCases)
    func cancelled(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let work = Work(loop, elements: 2)
            do {
                let iterator = work.elements.mapFuture(maxConcurrent: 2, work.step).makeAsyncIterator()
                let first = iterator.pull()
                for number in 0..<2 { try work.arrive(number) }
                #expect(first.cancel())
                try work.finish(0)
                try expect(iterator.pull(), succeedsWith: "value 0")
                #expect(work.seen.entries == ["begin 0", "begin 1"])
            }
            try settle(loop)
            #expect(work.seen.entries.last == "cancelled 1")
            work.steps = [:]

            let waiting = Work(loop, elements: 1)
            let task = waiting.collect(waiting.elements.mapLatest(waiting.step))
            try settle(loop)
            #expect(task.cancel())
            try loop.run()
            #expect("\(waiting.source[0].future)" == "Future(cancelled)")
        }
    }

    @Test("a step that releases its own iterator is cancelled")
    func releasesIterator() throws {
        try withLoop(.virtual) { loop in
            let step = loop.makePromise(of: Int.self)
            var iterator: LoopSequence<Int>.AsyncIterator?
            iterator = loop.submit { 1 }.values.mapFuture { _ in
                iterator = nil
                return step.future
            }
            .makeAsyncIterator()
            let wait = iterator?.pull()
            try settle(loop)
            try settle(loop)
            #expect(wait?.isCancelled == true && step.future.isCancelled)
        }
    }
}
