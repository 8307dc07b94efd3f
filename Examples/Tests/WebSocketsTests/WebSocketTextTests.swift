import ByteStreams
import Testing

@testable import WebSockets

/// Texts that are no UTF-8, as Autobahn's cases 6 send them.
struct WebSocketTextTests {
    /// The bytes of a frame whose mask is zero, and so its payload as it is.
    private static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        [(isFinal ? 0x80 : 0) | opcode, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    /// Passes bytes to a decoder one by one. Returns how many it takes to hear that a text is no UTF-8.
    private static func refusal(of bytes: [UInt8]) throws -> Int? {
        var decoder = WebSocketFrameDecoder(payloadLimit: 125)
        var start = 0
        for end in 1...bytes.count {
            do {
                let part = Array(bytes[start..<end])
                guard let frame = try decoder.decode(part.span.bytes, isAtEnd: false) else { continue }
                start += frame.byteCount
            } catch let error as WebSocketError {
                #expect(error.description == "the WebSocket was closed with 1007: a text is no UTF-8")
                return end
            }
        }
        return nil
    }

    @Test(
        arguments: [
            ([0xFF], 1), ([0x61, 0x80], 2), ([0xC0, 0xAF], 1), ([0xE0, 0x80], 2), ([0xED, 0xA0], 2),
            ([0xF0, 0x80], 2),
            ([0xF4, 0x90], 2), ([0xF5], 1), ([0xE2, 0x82, 0x61], 3),
            ([0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xF4, 0x90], 7),
        ] as [([UInt8], Int)])
    func `a text is refused at the byte that is wrong`(_ text: [UInt8], _ wrong: Int) throws {
        let rest: [UInt8] = [0x65, 0x64, 0x69]
        #expect(try Self.refusal(of: Self.frame(1, text + rest)) == 6 + wrong)
        // In a frame behind others, between which is a ping.
        let first = Self.frame(1, [0x61, 0xC3], isFinal: false) + Self.frame(9, [0xFF])
        let second = first + Self.frame(0, [0xA4], isFinal: false)
        #expect(try Self.refusal(of: second + Self.frame(0, text + rest)) == second.count + 6 + wrong)
        #expect(
            try Self.refusal(
                of: Self.frame(2, text) + Self.frame(2, text, isFinal: false) + Self.frame(0, text)) == nil)
    }

    @Test func `a text may not end within a character, and a frame may`() throws {
        let half = Self.frame(1, [0xE2, 0x82])
        #expect(try Self.refusal(of: half) == half.count)
        #expect(
            try Self.refusal(
                of: Self.frame(1, [0xE2, 0x82], isFinal: false) + Self.frame(0, [0xAC])
                    + Self.frame(1, [0x61]))
                == nil)
    }

    @Test func `what is UTF-8 is what Swift's own strings accept`() {
        var random = SystemRandomNumberGenerator()
        let edges: [UInt8] = [
            0x00, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
            0xED, 0xEE,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                edges.randomElement(using: &random)!
            }
            var scanner = UTF8Scanner()
            let isAccepted = bytes.allSatisfy { scanner.accepts($0) } && scanner.isComplete
            guard isAccepted == (String(validating: bytes, as: UTF8.self) != nil) else {
                Issue.record("\(bytes)")
                return
            }
        }
    }
}
