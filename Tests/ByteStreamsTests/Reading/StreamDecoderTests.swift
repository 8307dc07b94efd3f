import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct StreamDecoderTests {
    @Test("a decoder may take what is left at the end for a message", arguments: MessageWay.allCases)
    func unterminated(_ way: MessageWay) {
        withStream { stream, transport, loop in
            let decoder = SemicolonDecoder(takesUnterminated: true)
            var seen: [String] = []
            let done = way.read(stream, decoder) { seen.append($0) }
            loop.advance(by: .zero)
            for part in ["o", "ne;t", "w"] { transport.deliver(part) }
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(seen == ["one", "tw"])
            #expect(done.succeeded)
        }
    }

    @Test("a decoder without a size to give fails with a text that says what to give", arguments: [0, -1])
    func noSize(_ size: Int) {
        withStream { stream, transport, loop in
            let decoder = SemicolonDecoder(maximumSize: size)
            let done = stream.forEachMessage(decodedBy: decoder) { _, _ in }
            #expect(
                done.complaint
                    == "forEachMessage was given a decoder with a maximumSize of \(size); give one or more")
            #expect(
                stream.readMessage(decodedBy: decoder).complaint
                    == "readMessage was given a decoder with a maximumSize of \(size); give one or more")
            #expect(transport.timesStarted == 0)
        }
    }

    @Test("a decoder that takes no byte, or more than there are, traps", arguments: [-1, 0, 4])
    func greedy(_ byteCount: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [byteCount] in
            withStream { stream, transport, loop in
                let done = stream.forEachMessage(decodedBy: GreedyDecoder(byteCount: byteCount)) { _, _ in }
                transport.deliver("abc")
                done.ignoreFailure()
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "A StreamDecoder took \(byteCount) of 3 bytes. Return a byteCount from 1 to the number of bytes that "
                    + "it was given."))
    }
}
