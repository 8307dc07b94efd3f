import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct MessageSearchTests {
    @Test("a peer that drips makes nobody look at a byte twice", arguments: MessageWay.allCases)
    func drips(_ way: MessageWay) {
        let size = 60_000 / slowShare
        withStream { stream, transport, loop in
            // A structure would begin again with each message, and not with each byte.
            let decoder = SemicolonDecoder()
            var seen: [Int] = []
            let done = way.read(stream, decoder) { seen.append($0.utf8.count) }
            loop.advance(by: .zero)
            for _ in 0..<size { transport.deliver("x") }
            transport.deliver(";")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(seen == [size] && done.succeeded)
            #expect(decoder.looked == size + 1)
        }
    }

    @Test("messages may have one byte at least", arguments: MessageWay.allCases)
    func smallest(_ way: MessageWay) {
        withStream { stream, transport, loop in
            var seen: [String] = []
            let done = way.read(stream, SemicolonDecoder(maximumSize: 1)) { seen.append($0) }
            loop.advance(by: .zero)
            transport.deliver(";;")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(seen == ["", ""] && done.succeeded)
            let none = stream.readMessage(decodedBy: SemicolonDecoder(maximumSize: 0))
            #expect(
                none.complaint == "readMessage was given a decoder with a maximumSize of 0; give one or more")
        }
    }

    @Test("a decoder hears of the end only with the last block", arguments: MessageWay.allCases)
    func endOfBlocks(_ way: MessageWay) {
        withStream { stream, transport, loop in
            let first = stream.read()
            let block = String(repeating: "x", count: 4000)
            transport.deliver("first")
            for _ in 0..<3 { transport.deliver(block) }
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(first.succeeded)
            var seen: [Int] = []
            let done = way.read(stream, SemicolonDecoder(takesUnterminated: true)) {
                seen.append($0.utf8.count)
            }
            loop.advance(by: .zero)
            #expect(seen == [12_000] && done.succeeded)
        }
    }
}
