import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

/// What these tests hold of: the three verbs that read messages.
enum MessageWay: CaseIterable {
    case forEachMessage, readMessage, messages

    /// Passes each message to `body`, and completes at the end.
    func read(
        _ stream: ByteStream, _ decoder: SemicolonDecoder, _ body: @escaping (String) throws -> Void
    ) -> Future<Void> {
        switch self {
        case .forEachMessage:
            stream.forEachMessage(decodedBy: decoder) { range, bytes in try body(bytes.text(range)) }
        case .readMessage: readAll(stream, decoder, body)
        case .messages:
            Future(on: stream.loop) {
                for try await message in stream.messages(decodedBy: decoder) { try body(message) }
            }
        }
    }

    private func readAll(
        _ stream: ByteStream, _ decoder: SemicolonDecoder, _ body: @escaping (String) throws -> Void
    ) -> Future<Void> {
        stream.readMessage(decodedBy: decoder).flatMap { message in
            guard let message else { return stream.loop.succeeded() }
            try body(message)
            return readAll(stream, decoder, body)
        }
    }
}

struct MessagesTests {
    @Test("messages are those that were sent, wherever the bytes are cut", arguments: MessageWay.allCases)
    func cutAnywhere(_ way: MessageWay) {
        let text = "one;two;;three four;x;"
        for (first, second) in pairs(upTo: text.utf8.count) {
            withStream { stream, transport, loop in
                let decoder = SemicolonDecoder()
                var seen: [String] = []
                let done = way.read(stream, decoder) { seen.append($0) }
                loop.advance(by: .zero)
                let bytes = Data(text.utf8)
                for part in [0..<first, first..<second, second..<bytes.count] {
                    transport.deliver(bytes[part])
                }
                loop.advance(by: .zero)
                #expect(seen == ["one", "two", "", "three four", "x"])
                #expect(!done.isCompleted)
                transport.deliverEnd()
                loop.advance(by: .zero)
                #expect(done.succeeded)
                #expect(decoder.complaints.isEmpty)
                #expect(stream.read().now == Data())
            }
        }
    }

    private func pairs(upTo count: Int) -> [(Int, Int)] {
        (0...count).flatMap { first in (first...count).map { (first, $0) } }
    }

    @Test(
        "what has come before the read is read, too, in blocks of all sizes", arguments: MessageWay.allCases)
    func hadCome(_ way: MessageWay) {
        withStream { stream, transport, loop in
            let first = stream.read(exactly: 2)
            let long = String(repeating: "y", count: 5000)
            for part in ["a;b", "c;\(long)", long, ";d", ";"] { transport.deliver(part) }
            #expect(first.now == Data("a;"))
            var seen: [String] = []
            let done = way.read(stream, SemicolonDecoder()) { seen.append($0) }
            #expect(seen.isEmpty)
            loop.advance(by: .zero)
            #expect(seen == ["bc", long + long, "d"])
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(done.succeeded)
        }
    }

    @Test("an end in the middle of a message hands over what came of it", arguments: MessageWay.allCases)
    func endInside(_ way: MessageWay) {
        for isEarly in [true, false] {
            withStream { stream, transport, loop in
                var seen: [String] = []
                let done = way.read(stream, SemicolonDecoder()) { seen.append($0) }
                loop.advance(by: .zero)
                transport.deliver("one;tw")
                if !isEarly { loop.advance(by: .zero) }
                transport.deliverEnd()
                loop.advance(by: .zero)
                #expect(seen == ["one"])
                #expect(done.streamError == .unexpectedEnd(received: Data("tw")))
                #expect(stream.read().now == Data())
            }
        }
    }

    @Test(
        "a message that is too long fails the read, whole or in pieces, and its bytes stay readable",
        arguments: MessageWay.allCases,
        [["abcd;e"], ["abc", "d", ";e"], ["abcde"], ["a", "b", "c", "d", "e"]])
    func tooLong(_ way: MessageWay, _ parts: [String]) {
        withStream { stream, transport, loop in
            var seen: [String] = []
            let done = way.read(stream, SemicolonDecoder(maximumSize: 4)) { seen.append($0) }
            loop.advance(by: .zero)
            for part in ["abc;"] + parts {
                transport.deliver(part)
                loop.advance(by: .zero)
            }
            #expect(done.streamError == .limitExceeded(limit: 4))
            #expect(seen == ["abc"])
            transport.deliverEnd()
            #expect(stream.readToEnd().now == Data(parts.joined()))
        }
    }

    @Test(
        "the error of a decoder fails the read, and the bytes stay readable", arguments: MessageWay.allCases)
    func decoderThrows(_ way: MessageWay) {
        for parts in [["a;b!c"], ["a", ";b", "!c"], ["a;", "b!c"], ["b!c"]] {
            withStream { stream, transport, loop in
                let done = way.read(stream, SemicolonDecoder()) { _ in }
                loop.advance(by: .zero)
                for part in parts {
                    transport.deliver(part)
                    loop.advance(by: .zero)
                }
                #expect(done.error is SemicolonDecoder.Exclamation)
                transport.deliverEnd()
                #expect(stream.readToEnd().now == Data("b!c"))
            }
        }
    }

    @Test("what had come before the connection broke is read first", arguments: MessageWay.allCases)
    func broken(_ way: MessageWay) {
        withStream { stream, transport, loop in
            let line = stream.readLine()
            transport.deliver("\na;b;c")
            #expect(line.now == Data())
            transport.fail()
            var seen: [String] = []
            let done = way.read(stream, SemicolonDecoder()) { seen.append($0) }
            loop.advance(by: .zero)
            #expect(seen == ["a", "b"])
            #expect(done.error as? Broken == Broken())
            #expect(stream.read().now == Data("c"))
        }
    }
}
