import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct LengthPrefixDecoderTests {
    /// The prefix of `length` bytes.
    private func prefix(_ length: Int, _ decoder: LengthPrefixDecoder) -> Data {
        let bytes = (0..<decoder.prefix.rawValue).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return Data(decoder.byteOrder == .littleEndian ? bytes : bytes.reversed())
    }

    private static let decoders = LengthPrefixDecoder.Prefix.allCases.flatMap { prefix in
        LengthPrefixDecoder.ByteOrder.allCases.map { LengthPrefixDecoder(prefix, byteOrder: $0) }
    }

    @Test("messages are those that were sent, wherever the bytes are cut", arguments: decoders)
    func cutAnywhere(_ decoder: LengthPrefixDecoder) {
        let messages = ["one", "", "a longer one"].map { Data($0) }
        let bytes = messages.reduce(Data()) { $0 + prefix($1.count, decoder) + $1 }
        for cut in 0...bytes.count {
            withStream { stream, transport, loop in
                var seen: [Data] = []
                let done = stream.forEachMessage(decodedBy: decoder) { range, bytes in
                    seen.append(Data(copying: bytes.extracting(range)))
                    #expect(range.upperBound == bytes.byteCount)
                }
                loop.advance(by: .zero)
                transport.deliver(bytes.prefix(cut))
                transport.deliver(bytes.dropFirst(cut))
                transport.deliverEnd()
                #expect(done.succeeded)
                #expect(seen == messages)
            }
        }
    }

    @Test("a long message has all bytes of its length", arguments: decoders)
    func long(_ decoder: LengthPrefixDecoder) {
        withStream { stream, transport, loop in
            let message = Data(repeating: 5, count: decoder.prefix == .uint8 ? 255 : 0x1234)
            let read = stream.readMessage(decodedBy: decoder)
            transport.deliver(prefix(message.count, decoder) + message + Data("x"))
            #expect(read.now == message)
            #expect(stream.read().now == Data("x"))
        }
    }

    @Test(
        "a prefix above the limit fails before the message has come, and the bytes stay readable",
        arguments: decoders)
    func limit(_ decoder: LengthPrefixDecoder) {
        withStream { stream, transport, loop in
            let limited = LengthPrefixDecoder(decoder.prefix, byteOrder: decoder.byteOrder, limit: 10)
            let message = Data(repeating: 1, count: 10)
            let atLimit = stream.readMessage(decodedBy: limited)
            transport.deliver(prefix(10, decoder) + message)
            #expect(atLimit.now == message)
            let above = stream.readMessage(decodedBy: limited)
            transport.deliver(prefix(11, decoder))
            #expect(above.streamError == .limitExceeded(limit: 10))
            #expect(stream.read().now == prefix(11, decoder))
        }
    }

    @Test("the longest prefix is above every limit, and overflows nothing")
    func longest() {
        for limit in [0, Int.max] {
            withStream { stream, transport, loop in
                let read = stream.readMessage(decodedBy: LengthPrefixDecoder(.uint64, limit: limit))
                transport.deliver(Data(repeating: 255, count: 8))
                #expect(read.streamError == .limitExceeded(limit: limit))
                let most = stream.read(exactly: 8)
                #expect(most.isCompleted)
                let waiting = stream.readMessage(decodedBy: LengthPrefixDecoder(.uint64, limit: .max))
                transport.deliver(Data([127]) + Data(repeating: 255, count: 7))
                #expect(!waiting.isCompleted)
                waiting.cancel()
            }
        }
    }

    @Test("an end inside a prefix or a message hands over what came of it", arguments: [1, 2, 3, 4])
    func end(_ count: Int) {
        withStream { stream, transport, loop in
            let bytes = Data([0, 3, 1, 2]).prefix(count)
            let read = stream.readMessage(decodedBy: LengthPrefixDecoder(.uint16))
            transport.deliver(bytes)
            transport.deliverEnd()
            #expect(read.streamError == .unexpectedEnd(received: bytes))
            #expect(stream.readMessage(decodedBy: LengthPrefixDecoder(.uint16)).now == .some(nil))
        }
    }

    @Test("a negative limit traps")
    func negative() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = LengthPrefixDecoder(.uint8, limit: -1)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("LengthPrefixDecoder was given a limit of -1. Give zero or more."))
    }
}
