import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

/// What these tests hold of: the two verbs that call a body with what comes.
enum ChunkWay: CaseIterable {
    case forEachChunk
    case forEachSpan

    func read<Ignored>(_ stream: ByteStream, _ body: @escaping (Data) throws -> Future<Ignored>) -> Future<
        Void
    > {
        switch self {
        case .forEachChunk: stream.forEachChunk(body)
        case .forEachSpan: stream.forEachSpan { try body(Data(copying: $0)) }
        }
    }

    func read(_ stream: ByteStream, _ body: @escaping (Data) throws -> Void) -> Future<Void> {
        switch self {
        case .forEachChunk: stream.forEachChunk(body)
        case .forEachSpan: stream.forEachSpan { try body(Data(copying: $0)) }
        }
    }
}

struct ForEachChunkTests {
    @Test("a body that waits for the whole ends it", arguments: ChunkWay.allCases, [0, 1, 2])
    func cycle(way: ChunkWay, distance: Int) {
        withStream { stream, transport, loop in
            var whole: Future<Void>!
            var calls = 0
            whole = way.read(stream) { _ -> Future<Void> in
                calls += 1
                switch distance {
                case 0: return whole
                case 1: return whole.map {}
                default: return whole.flatMap { loop.succeeded() }.always {}
                }
            }
            transport.deliver("one")
            loop.advance(by: .zero)
            #expect(throws: FutureError.cycle) { try whole.result?.get() }
            transport.deliver("two")
            loop.advance(by: .zero)
            #expect(calls == 1)
            #expect(firstByte(of: "three", stream, transport) == Data("t"))
            whole = nil
        }
    }

    @Test("forEachChunk sees every chunk in order and completes at the end", arguments: ChunkWay.allCases)
    func seesAll(way: ChunkWay) {
        withStream { stream, transport, loop in
            var chunks: [Data] = []
            let done = way.read(stream) { chunks.append($0) }
            for text in ["one", "two", "three"] { transport.deliver(text) }
            #expect(!done.isCompleted)
            transport.deliverEnd()
            #expect(done.succeeded)
            #expect(chunks == [Data("one"), Data("two"), Data("three")])
        }
    }

    @Test(
        "forEachChunk takes what had arrived, and never calls its body inside the call",
        arguments: ChunkWay.allCases)
    func takesBuffered(way: ChunkWay) {
        withStream { stream, transport, loop in
            #expect(firstByte(of: "abc", stream, transport) == Data("a"))
            var chunks: [Data] = []
            let done = way.read(stream) { chunks.append($0) }
            #expect(chunks.isEmpty)
            loop.advance(by: .zero)
            #expect(chunks == [Data("bc")])
            transport.deliverEnd()
            #expect(done.succeeded)
            let again = way.read(stream) { _ in Issue.record("there is no chunk") }
            #expect(!again.isCompleted)
            loop.advance(by: .zero)
            #expect(again.succeeded)
        }
    }

    @Test(
        "the next chunk waits for the future of the one before, and the peer is held back",
        arguments: ChunkWay.allCases)
    func backPressure(way: ChunkWay) {
        var limits = StreamLimits()
        limits.readHighWaterMark = 6
        withStream(limits: limits) { stream, transport, loop in
            var chunks: [Data] = []
            var promises: [Promise<Void>] = []
            let done = way.read(stream) { chunk in
                chunks.append(chunk)
                promises.append(loop.makePromise())
                return promises.last!.future
            }
            transport.deliver("a")
            transport.deliver("bcd")
            #expect(transport.isReading)
            transport.deliver("efg")
            #expect(!transport.isReading)
            transport.deliver("h")
            #expect(chunks == [Data("a")])
            promises[0].succeed()
            loop.advance(by: .zero)
            #expect(chunks == [Data("a"), Data("bcdefg")])
            #expect(!transport.isReading)
            promises[1].succeed()
            loop.advance(by: .zero)
            #expect(chunks == [Data("a"), Data("bcdefg"), Data("h")])
            transport.deliverEnd()
            #expect(!done.isCompleted)
            promises[2].succeed()
            loop.advance(by: .zero)
            #expect(done.succeeded)
        }
    }

    @Test(
        "a closure that only writes returns the write's future: the echo holds the peer back",
        arguments: ChunkWay.allCases)
    func echoIsHeldBack(way: ChunkWay) {
        withStream { stream, transport, loop in
            let done = way.read(stream) { chunk in stream.write(chunk) }
            transport.room = 1
            transport.deliver("abc")
            transport.deliver("def")
            #expect(transport.sent == Data("a"))
            #expect(stream.bufferedBytes == 2)
            transport.finishWrite()
            #expect(transport.sent == Data("abc"))
            #expect(stream.bufferedBytes == 3)
            transport.deliverEnd()
            transport.finishWrite()
            #expect(done.succeeded)
            #expect(transport.sent == Data("abcdef"))
        }
    }

    @Test("an echo whose writes are taken at once makes no future per chunk", arguments: ChunkWay.allCases)
    func makesNoFutures(way: ChunkWay) {
        withStream { stream, transport, loop in
            var alive: Set<Int> = []
            let done = way.read(stream) { chunk in
                alive.insert(loop.statistics.futures)
                return stream.write(chunk)
            }
            loop.advance(by: .zero)
            let before = loop.statistics.futures
            for _ in 0..<100 { transport.deliver("x") }
            #expect(alive.count == 1)
            #expect(loop.statistics.futures <= before)
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test("the future of the body may be of any type", arguments: ChunkWay.allCases)
    func anyFuture(way: ChunkWay) {
        withStream { stream, transport, loop in
            var chunks = 0
            let done = way.read(stream) { chunk in
                chunks += chunk.count
                return chunks == 1 ? loop.succeeded("text") : loop.sleep(for: .seconds(1)).map { "text" }
            }
            for _ in 0..<3 { transport.deliver("a") }
            #expect(chunks == 2)
            loop.advance(by: .seconds(2))
            #expect(chunks == 3)
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test("very many chunks at once do not grow the stack", arguments: ChunkWay.allCases)
    func flatStack(way: ChunkWay) throws {
        try onThread(stackSize: smallStack) {
            withStream { stream, transport, loop in
                var bytes = 0
                let done = way.read(stream) { chunk in
                    bytes += chunk.count
                    return loop.succeeded().map {}
                }
                for _ in 0..<largeCount { transport.deliver(Data(repeating: 1, count: 10)) }
                transport.deliverEnd()
                loop.advance(by: .zero)
                #expect(done.succeeded)
                #expect(bytes == 10 * largeCount)
            }
        }
    }

    @Test(
        "a body that throws ends it with that error, and the bytes that follow stay readable",
        arguments: ChunkWay.allCases)
    func throwingBody(way: ChunkWay) {
        withStream { stream, transport, loop in
            let done = way.read(stream) { (_: Data) throws -> Void in throw Broken() }
            transport.deliver("abc")
            transport.deliver("def")
            #expect(done.error is Broken)
            #expect(stream.read().now == Data("def"))
        }
    }

    @Test(
        "a body whose future fails, at once or later, ends it with that error", arguments: ChunkWay.allCases,
        [true, false])
    func failingFuture(way: ChunkWay, _ atOnce: Bool) {
        withStream { stream, transport, loop in
            let promise = loop.makePromise(of: Void.self)
            if atOnce { promise.fail(Broken()) }
            let done = way.read(stream) { _ in promise.future }
            transport.deliver("abc")
            transport.deliver("def")
            promise.fail(Broken())
            loop.advance(by: .zero)
            #expect(done.error is Broken)
            #expect(stream.read().now == Data("def"))
        }
    }

    @Test("cancelling it stops at once, frees the slot and leaves the bytes", arguments: ChunkWay.allCases)
    func cancel(way: ChunkWay) {
        withStream { stream, transport, loop in
            var chunks: [Data] = []
            let done = way.read(stream) { chunks.append($0) }
            transport.deliver("a")
            #expect(done.cancel())
            #expect(done.wasCancelled)
            transport.deliver("b")
            #expect(chunks == [Data("a")])
            #expect(stream.read().now == Data("b"))
        }
    }

    @Test("cancelling it cancels the future that its body returned", arguments: ChunkWay.allCases)
    func cancelReachesBody(way: ChunkWay) {
        withStream { stream, transport, loop in
            let work = loop.sleep(for: .seconds(1000))
            let done = way.read(stream) { _ in work }
            transport.deliver("a")
            transport.deliver("b")
            #expect(done.cancel())
            #expect(work.wasCancelled)
            #expect(stream.read().now == Data("b"))
        }
    }

    @Test("cancelling it from its own body ends it after that call", arguments: ChunkWay.allCases)
    func cancelFromBody(way: ChunkWay) {
        withStream { stream, transport, loop in
            var done: Future<Void>?
            var calls = 0
            done = way.read(stream) { _ in
                calls += 1
                done?.cancel()
            }
            transport.deliver("a")
            transport.deliver("b")
            #expect(calls == 1)
            #expect(done?.wasCancelled == true)
            #expect(stream.read().now == Data("b"))
        }
    }

    @Test("what its body returns after cancelling it is asked to cancel", arguments: ChunkWay.allCases)
    func cancelFromBodyThatReturns(way: ChunkWay) {
        withStream { stream, transport, loop in
            let work = loop.sleep(for: .seconds(1000))
            var done: Future<Void>?
            done = way.read(stream) { _ in
                done?.cancel()
                return work
            }
            transport.deliver("a")
            #expect(done?.wasCancelled == true)
            #expect(work.wasCancelled)
        }
    }

    @Test("the failure of the connection ends it, also while its body waits", arguments: ChunkWay.allCases)
    func connectionFails(way: ChunkWay) {
        for waits in [true, false] {
            withStream { stream, transport, loop in
                let promise = loop.makePromise(of: Void.self)
                let done = way.read(stream) { _ in waits ? promise.future : loop.succeeded() }
                transport.deliver("a")
                transport.fail()
                #expect(done.error is Broken)
                promise.succeed()
            }
        }
    }

    @Test("chunks that came before the failure can still be had", arguments: ChunkWay.allCases)
    func drainsAfterFailure(way: ChunkWay) {
        withStream { stream, transport, loop in
            #expect(firstByte(of: "abc", stream, transport) == Data("a"))
            transport.fail()
            var chunks: [Data] = []
            let done = way.read(stream) { chunk in
                chunks.append(chunk)
                return loop.sleep(for: .seconds(1))
            }
            loop.advance(by: .seconds(1))
            #expect(chunks == [Data("bc")])
            #expect(done.error is Broken)
        }
    }

    @Test("abort ends it, although the connection is gone already", arguments: ChunkWay.allCases)
    func abortWhileDraining(way: ChunkWay) {
        withStream { stream, transport, loop in
            #expect(firstByte(of: "abc", stream, transport) == Data("a"))
            transport.fail()
            transport.finishClose()
            let done = way.read(stream) { _ in loop.sleep(for: .seconds(1)) }
            loop.advance(by: .zero)
            stream.abort()
            #expect(done.streamError == .connectionClosed)
            loop.advance(by: .seconds(1))
        }
    }

    @Test("close completes it, abort fails it", arguments: ChunkWay.allCases, [true, false])
    func closing(way: ChunkWay, _ orderly: Bool) {
        withStream { stream, transport, loop in
            let done = way.read(stream) { _ in _ = orderly ? stream.close() : stream.abort() }
            transport.deliver("a")
            if orderly { #expect(done.succeeded) } else { #expect(done.streamError == .connectionClosed) }
            #expect(way.read(stream) { _ in }.streamError == .connectionClosed)
        }
    }

    @Test("close lets the write finish that the body waits for", arguments: ChunkWay.allCases)
    func closeWhileBodyWaits(way: ChunkWay) {
        withStream { stream, transport, loop in
            transport.room = 0
            let done = way.read(stream) { chunk in stream.write(chunk) }
            transport.deliver("abc")
            stream.close()
            #expect(done.succeeded)
            transport.finishWrite()
            #expect(transport.sent == Data("abc"))
            #expect(transport.wasReset == false)
        }
    }

    private func firstByte(of text: String, _ stream: ByteStream, _ transport: ScriptedTransport) -> Data? {
        let read = stream.read(exactly: 1)
        transport.deliver(text)
        return read.now ?? nil
    }
}
