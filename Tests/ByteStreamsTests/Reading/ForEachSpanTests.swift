import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What `forEachSpan` does besides what `ForEachChunkTests` hold of it.
struct ForEachSpanTests {
    @Test("bytes are lent where the transport has them")
    func areLent() {
        withStream { stream, transport, loop in
            var lent: [Int] = []
            let done = stream.forEachSpan { lent.append(address($0)) }
            loop.advance(by: .zero)
            let data = Data(repeating: 1, count: 1000)
            transport.deliver(data)
            transport.deliver(data)
            #expect(lent == Array(repeating: address(data.bytes), count: 2))
            #expect(transport.spansLent == 2)
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test("bytes that come while the body waits are kept, and none are lent meanwhile")
    func areKept() {
        withStream { stream, transport, loop in
            var chunks: [Data] = []
            let promise = loop.makePromise(of: Void.self)
            let done = stream.forEachSpan { bytes in
                chunks.append(Data(copying: bytes))
                return chunks.count == 1 ? promise.future : loop.succeeded()
            }
            loop.advance(by: .zero)
            transport.deliver("one")
            transport.deliver("two")
            #expect(transport.spansLent == 1)
            promise.succeed()
            loop.advance(by: .zero)
            transport.deliver("three")
            #expect(transport.spansLent == 2)
            #expect(chunks == [Data("one"), Data("two"), Data("three")])
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test("nothing is lent to who reads otherwise, and what is left over after a body is readable")
    func readAfterwards() {
        withStream { stream, transport, loop in
            let done = stream.forEachSpan { _ in throw Broken() }
            loop.advance(by: .zero)
            transport.deliver("one")
            transport.deliver("two")
            #expect(done.error as? Broken == Broken())
            #expect(transport.spansLent == 1)
            #expect(stream.read().now == Data("two"))
            let read = stream.read()
            transport.deliver("three")
            #expect(read.now == Data("three"))
            #expect(transport.spansLent == 1)
        }
    }

    private func address(_ bytes: RawSpan) -> Int {
        unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
}
