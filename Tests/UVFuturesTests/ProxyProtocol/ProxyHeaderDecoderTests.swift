import ByteStreams
import FoundationEssentials
import Futures
import Testing
import UVFutures

struct ProxyHeaderDecoderTests {
    @Test("a header that is cut at any byte is incomplete, and one of other bytes is none")
    func cut() throws {
        let headers = [
            try ProxyHeader(source: clientAddress, destination: frontAddress).bytes(.v1),
            try ProxyHeader(source: clientAddress, destination: frontAddress).bytes(.v2, checksummed: true),
        ]
        for whole in headers {
            for size in 1..<whole.count {
                #expect(throws: StreamError.unexpectedEnd(received: whole.prefix(size))) {
                    try header([UInt8](whole.prefix(size)))
                }
            }
        }
        for (text, byte) in [
            ("GET / HTTP/1.1\r\n", 0), ("PROXIMA", 4), ("\r\n\r\nGET", 4), ("PUT", 1), ("\u{16}", 0),
        ] {
            #expect(refusal(Array(text.utf8)) == .missing(byte: byte))
        }
    }

    @Test("a line has at most 107 bytes, and bytes as many as the limit")
    func limits() throws {
        let start = "PROXY UNKNOWN "
        let longest = start + String(repeating: "x", count: 105 - start.count) + "\r\n"
        #expect(longest.utf8.count == 107)
        #expect(try header(Array(longest.utf8)).0 == .unknown)
        #expect(refusal(Array((start + String(repeating: "x", count: 200)).utf8)) == .tooLong(limit: 107))
        #expect(
            refusal(Array((start + String(repeating: "x", count: 106 - start.count) + "\r\n").utf8))
                == .tooLong(limit: 107))
        let padded = ProxyBytes.v2(
            ProxyBytes.addresses + [4, 0x0F, 0xE1] + [UInt8](repeating: 0, count: 0xFE1))
        #expect(padded.count == 4096)
        #expect(try header(padded).0 == ProxyHeader(source: clientAddress, destination: frontAddress))
        #expect(refusal(padded, limit: 4095) == .tooLong(limit: 4095))
        let large = ProxyBytes.v2(
            ProxyBytes.addresses + [0xE0, 0xFF, 0xF0] + [UInt8](repeating: 7, count: 0xFFF0))
        #expect(try header(large, limit: 65_551).0.tlvs.first?.value.count == 0xFFF0)
        #expect(try header(Array(try ProxyHeader.local.bytes(.v2)), limit: 16).0 == .local)
        #expect(ProxyHeaderDecoder().maximumSize == 4097 && ProxyHeaderDecoder(limit: 16).maximumSize == 108)
    }

    @Test("a decoder that has found a header looks at each byte of the next one")
    func again() throws {
        var decoder = ProxyHeaderDecoder()
        let bytes = try ProxyHeader.local.bytes(.v2)
        for _ in 0..<2 { #expect(try decoder.decode(bytes.bytes, isAtEnd: false)?.byteCount == 16) }
        let other = Data([0x47]) + bytes.dropFirst()
        #expect(throws: ProxyProtocolError.missing(byte: 0)) {
            try decoder.decode(other.bytes, isAtEnd: false)
        }
    }
}
