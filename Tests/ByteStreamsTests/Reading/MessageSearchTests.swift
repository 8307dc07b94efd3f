import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct MessageSearchTests {
    @Test("a peer that drips makes nobody look at a byte twice", arguments: MessageWay.allCases)
    func drips(_ way: MessageWay) {
        let size = 60_000 / sanitizedShare
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
}
