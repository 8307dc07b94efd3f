import Futures
import FuturesTesting
import Testing

struct ZipTests {
    private struct Row: CustomTestStringConvertible, Sendable {
        let script: Script
        let zipped: String
        var testDescription: String { script.testDescription }

        init(_ script: String, _ zipped: String) { (self.script, self.zipped) = (Script(script), zipped) }
    }

    private static let rows = [
        Row("a1 b2 b3 a4 a. b5 b.", "(1, 2) (4, 3) end"),
        Row("a1 a2 a. b.", "end"),
        Row("a. b1 b2", "end"),
        Row("b.", "end"),
        Row("a1 b2 b3 b. a4 a5", "(1, 2) (4, 3) end"),
        Row("a1 b2 a!", "(1, 2) Failure(code: 1)"),
        Row("a! b1", "Failure(code: 1)"),
        Row("a1 a2 b!", "Failure(code: 1)"),
    ]

    @Test("a zipped sequence gives tuples until one source ends", arguments: rows, Consumer.allCases)
    private func tuples(row: Row, consumer: Consumer) throws {
        for isThereAlready in [false, true] {
            try withLoop(.virtual) { loop in
                let (a, b) = (ElementQueue<Int>(on: loop.core), ElementQueue<Int>(on: loop.core))
                let seen = Record()
                if isThereAlready { row.script.run(["a": a, "b": b]) {} }
                consumer.start(a.sequence().zip(b.sequence()), seen, on: loop)
                loop.advance(by: .zero)
                if !isThereAlready { row.script.run(["a": a, "b": b]) { loop.advance(by: .zero) } }
                #expect(seen.entries.joined(separator: " ") == row.zipped)
            }
        }
    }

    @Test("what is kept for a tuple is released at the end, though the iterator is kept")
    func released() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let a = ElementQueue<Witness>(on: loop.core)
            let b = ElementQueue<Int>(on: loop.core)
            let iterator = a.sequence().zip(b.sequence()).makeAsyncIterator()
            let first = iterator.pull()
            a.add(loop.succeeded(Witness { seen.add("released") }))
            try settle(loop)
            #expect(seen.entries.isEmpty)
            b.finish()
            try settle(loop)
            #expect(try loop.run(until: first) == nil && seen.entries == ["released"])
            withExtendedLifetime(iterator) {}
        }
    }

    @Test("elements of three sources, of different types, make a tuple of three")
    func three() throws {
        try withLoop(.virtual) { loop in
            let texts = Future.inCompletionOrder(["a", "b"].map { loop.succeeded($0) })
            let flags = Future.inCompletionOrder([true, false, true].map { loop.succeeded($0) })
            let numbers = Future.inCompletionOrder([1, 2, 3].map { loop.succeeded($0) })
            let seen = Record()
            try loop.run(
                until: Future(on: loop) {
                    for try await (number, text, flag) in numbers.zip(texts, flags) {
                        seen.add("\(number)\(text)\(flag)")
                    }
                })
            #expect(seen.entries == ["1atrue", "2bfalse"])
        }
    }

    @Test("a zipped sequence asks when its consumer does, and keeps one element of each source")
    func pulls() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (Numbers(loop), Numbers(loop))
            let iterator = a.sequence.zip(b.sequence).makeAsyncIterator()
            try settle(loop)
            #expect(a.seen.entries.isEmpty && b.seen.entries.isEmpty)
            let first = iterator.pull()
            a.send(1)
            try settle(loop)
            #expect(!first.isCompleted)
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
            b.send(2)
            try settle(loop)
            #expect(first.now.map { $0.map { [$0, $1] } } == [1, 2])
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
        }
    }

    @Test("what comes when the wait for it was cancelled is kept for the next wait")
    func losesNothing() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (Numbers(loop), Numbers(loop))
            let iterator = a.sequence.zip(b.sequence).makeAsyncIterator()
            let first = iterator.pull()
            a.send(1)
            try settle(loop)
            #expect(first.cancel())
            let second = iterator.pull().timeout(after: .ticks(1))
            expect(second, failsWith: FutureError.timedOut(after: .ticks(1)))
            b.send(2)
            try settle(loop)
            #expect(a.seen.entries == ["asked"] && b.seen.entries == ["asked"])
            #expect(iterator.pull().now.map { $0.map { [$0, $1] } } == [1, 2])
            #expect(iterator.pull().cancel())
            a.promises.removeFirst().fail(Failure(1))
            try settle(loop)
            #expect("\(b.promises[0].future)" == "Future(cancelled)")
            expect(iterator.pull(), failsWith: Failure(1))
        }
    }

    @Test("all sources are stopped when one ends, and when the consumer leaves")
    func stops() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (Numbers(loop), Numbers(loop))
            let zipped = a.sequence.zip(b.sequence)
            let ended = Future(on: loop) { for try await _ in zipped {} }
            try settle(loop)
            a.send(1)
            b.send(nil)
            try loop.run(until: ended)
            #expect(a.seen.entries == ["asked", "stopped"] && b.seen.entries == ["asked", "stopped"])
            let cancelled = Future(on: loop) { for try await _ in zipped {} }
            try settle(loop)
            #expect(cancelled.cancel())
            try settle(loop)
            #expect("\(a.promises[0].future)" == "Future(cancelled)")
            #expect("\(b.promises[0].future)" == "Future(cancelled)")
            #expect(a.seen.entries.last == "stopped" && b.seen.entries.last == "stopped")
        }
    }
}
