import Futures
import FuturesTesting
import Testing

struct MergeTests {
    private struct Row: CustomTestStringConvertible, Sendable {
        let script: Script
        let merged: String
        var testDescription: String { script.testDescription }

        init(_ script: String, _ merged: String) { (self.script, self.merged) = (Script(script), merged) }
    }

    private static let oneByOne = [
        Row("a1 b2 b3 a4 a. b5 b.", "1 2 3 4 5 end"),
        Row("a1 a2 a. b.", "1 2 end"),
        Row("a. b1 b2 b.", "1 2 end"),
        Row("a. b.", "end"),
        Row("a1 b2 a!", "1 2 Failure(code: 1)"),
        Row("a! b1", "Failure(code: 1)"),
        Row("a. b1 b!", "1 Failure(code: 1)"),
    ]

    @Test(
        "a merged sequence gives what its sources give, as it comes", arguments: oneByOne, Consumer.allCases)
    private func comesOneByOne(row: Row, consumer: Consumer) throws {
        try withLoop(.virtual) { loop in
            let (a, b, seen) = (ElementQueue<Int>(on: loop.core), ElementQueue<Int>(on: loop.core), Record())
            consumer.start(a.sequence().merge(with: b.sequence()), seen, on: loop)
            try settle(loop)
            row.script.run(["a": a, "b": b]) { loop.advance(by: .zero) }
            #expect(seen.entries.joined(separator: " ") == row.merged)
        }
    }

    private static let allAtOnce = [
        Row("a1 a2 a3 a. b4 b.", "1 4 2 3 end"),
        Row("a1 a2 b. a.", "1 2 end"),
        Row("a! b1 b2 b.", "Failure(code: 1)"),
        Row("b1 b2 b. a!", "Failure(code: 1)"),
        Row("a1 a! b2 b3 b.", "1 2 Failure(code: 1)"),
    ]

    @Test("a merged sequence takes from each source in turn", arguments: allAtOnce, Consumer.allCases)
    private func isThereAlready(row: Row, consumer: Consumer) throws {
        try withLoop(.virtual) { loop in
            let (a, b, seen) = (ElementQueue<Int>(on: loop.core), ElementQueue<Int>(on: loop.core), Record())
            row.script.run(["a": a, "b": b]) {}
            consumer.start(a.sequence().merge(with: b.sequence()), seen, on: loop)
            loop.advance(by: .zero)
            #expect(seen.entries.joined(separator: " ") == row.merged)
        }
    }

    @Test("a merged sequence asks when its consumer does, and keeps one element of each source")
    func pulls() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (Numbers(loop), Numbers(loop))
            let iterator = a.sequence.merge(with: b.sequence).makeAsyncIterator()
            try settle(loop)
            #expect(a.seen.entries.isEmpty && b.seen.entries.isEmpty)
            let first = iterator.pull()
            a.send(1)
            try settle(loop)
            #expect(first.now == .some(1))
            b.send(2)
            try settle(loop)
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
            #expect(iterator.pull().now == .some(2))
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
            let third = iterator.pull()
            #expect(a.seen.entries == ["asked", "asked"] && b.seen.entries == ["asked", "asked"])
            a.send(nil)
            b.send(nil)
            try expect(third.map { $0 ?? 0 }, succeedsWith: 0)
            #expect(a.seen.entries.last == "stopped" && b.seen.entries.last == "stopped")
            try expect(iterator.pull().map { $0 ?? 0 }, succeedsWith: 0)
        }
    }

    @Test("what comes when the wait for it was cancelled is kept for the next wait")
    func losesNothing() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (Numbers(loop), Numbers(loop))
            let iterator = a.sequence.merge(with: b.sequence).makeAsyncIterator()
            #expect(iterator.pull().cancel())
            expect(
                iterator.pull().timeout(after: .ticks(1)), failsWith: FutureError.timedOut(after: .ticks(1)))
            b.send(2)
            a.send(1)
            try settle(loop)
            #expect(iterator.pull().now == .some(2))
            #expect(iterator.pull().now == .some(1))
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
            #expect(iterator.pull().cancel())
            a.send(3)
            b.promises.removeFirst().fail(Failure(1))
            try settle(loop)
            #expect(iterator.pull().now == .some(3))
            expect(iterator.pull(), failsWith: Failure(1))
            try expect(iterator.pull().map { $0 ?? 0 }, succeedsWith: 0)
        }
    }

    @Test("the other sources are stopped when one fails, and all when the consumer leaves")
    func stops() throws {
        try withLoop(.virtual) { loop in
            let sources = (0..<3).map { _ in Numbers(loop) }
            let merged = sources[0].sequence.merge(with: sources[1].sequence, sources[2].sequence)
            let failed = collect(merged, into: Record())
            try settle(loop)
            sources[1].promises[0].fail(Failure(1))
            expect(failed, failsWith: Failure(1))
            for source in sources {
                #expect(source.seen.entries == ["asked", "stopped"])
                #expect(source.promises[0].future.isCompleted)
                source.promises = []
            }
            let left = merged.first()
            try settle(loop)
            sources[2].send(7)
            try expect(left.map { $0 ?? 0 }, succeedsWith: 7)
            try settle(loop)
            for source in sources {
                #expect(source.seen.entries == ["asked", "stopped", "asked", "stopped"])
                source.promises = []
            }
            let cancelled = collect(merged, into: Record())
            try settle(loop)
            #expect(cancelled.cancel())
            try settle(loop)
            #expect("\(sources[2].promises[0].future)" == "Future(cancelled)")
        }
    }

    @Test("shutting the loop down ends a wait for merged elements", arguments: Driver.allCases)
    func shutdown(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let (a, b, seen) = (Numbers(loop), Numbers(loop), Record())
            Consumer.body.start(a.sequence.merge(with: b.sequence), seen, on: loop)
            try settle(loop)
            loop.shutdown()
            #expect(seen.entries == ["\(FutureError.shutDown)"])
        }
    }
}
