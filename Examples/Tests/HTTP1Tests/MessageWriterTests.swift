import HTTP1
import Testing

struct MessageWriterTests {
    @Test func `what is written is read again`() throws {
        var writer = MessageWriter()
        let trailers = try head("GET / HTTP/1.0\r\nSum: 7\r\n\r\n").fields
        writer.lines("POST /a?b HTTP/1.1\r\nHost: c:8\r\n")
        writer.field("X", "7")
        writer.endHeadChunked()
        for size in [0, 1, 15, 16, 255, 256, 4096] {
            writer.chunk([UInt8](repeating: 1, count: size).span.bytes)
        }
        writer.endChunks(trailers: trailers)
        #expect(verdict(.request, [written(writer)[...]]).hasPrefix("ok POST /a?b 3 4639:"))
        #expect(verdict(.request, [written(writer)[...]]).hasSuffix(" 1"))
    }

    private func written(_ writer: MessageWriter) -> [UInt8] { writer.bytes.withUnsafeBytes { [UInt8]($0) } }

    @Test func `a response is written`() {
        var writer = MessageWriter()
        writer.begin(status: 404)
        writer.endHead(bodyBytes: 3)
        writer.raw("no\n")
        #expect(
            String(decoding: written(writer), as: UTF8.self)
                == "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n")
        writer.removeAll()
        writer.begin(status: 299)
        #expect(String(decoding: written(writer), as: UTF8.self) == "HTTP/1.1 299 \r\n")
    }

    @Test func `a value that would begin another field traps`() async {
        await #expect(processExitsWith: .failure) {
            var writer = MessageWriter()
            writer.field("Location", "/\r\nSet-Cookie: a")
        }
    }
}
