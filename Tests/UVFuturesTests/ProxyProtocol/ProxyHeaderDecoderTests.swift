import ByteStreams
import FoundationEssentials
import Futures
import Testing
import UVFutures

struct ProxyHeaderDecoderTests {
    static let badLines: [(String, String)] = [
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234\r\n", "there are 3 words after TCP4, and not 4"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234 443 \r\n", "there are 5 words after TCP4, and not 4"),
        ("PROXY TCP4  192.0.2.7 198.51.100.1 51234 443\r\n", "there are 5 words after TCP4, and not 4"),
        ("PROXY TCP4\r\n", "there are 0 words after TCP4, and not 4"),
        ("PROXY \r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY tcp4 192.0.2.7 198.51.100.1 51234 443\r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY UDP4 192.0.2.7 198.51.100.1 51234 443\r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234 443\n", "the line ends without a carriage return"),
        ("PROXY TCP4 192.0.2 198.51.100.1 51234 443\r\n", "an address is no IPv4 address"),
        ("PROXY TCP4 192.0.2.256 198.51.100.1 51234 443\r\n", "an address is no IPv4 address"),
        ("PROXY TCP4 192.0.02.7 198.51.100.1 51234 443\r\n", "an address is no IPv4 address"),
        ("PROXY TCP4 ::1 ::1 51234 443\r\n", "an address is no IPv4 address"),
        ("PROXY TCP6 192.0.2.7 198.51.100.1 51234 443\r\n", "an address is no IPv6 address"),
        ("PROXY TCP6 fe80::1%1 ::1 51234 443\r\n", "an address is no IPv6 address"),
        ("PROXY TCP6 ::1::2 ::1 51234 443\r\n", "an address is no IPv6 address"),
        ("PROXY TCP4 localhost 198.51.100.1 51234 443\r\n", "an address is no IPv4 address"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n", "a port is no number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 051234 443\r\n", "a port is no number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 +1 443\r\n", "a port is no number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 -1 443\r\n", "a port is no number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 1x 443\r\n", "a port is no number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1  443\r\n", "a port is no number from 0 to 65535"),
    ]

    @Test("a line that breaks a rule is refused with the rule", arguments: 0..<badLines.count)
    func wrongLine(index: Int) {
        let (line, text) = Self.badLines[index]
        #expect(refusal(Array(line.utf8)) == .malformed(.v1, text))
    }

    static let badBytes: [([UInt8], ProxyProtocolError)] = [
        (ProxyBytes.v2(ProxyBytes.addresses, command: 0x11), .malformed(.v2, "it says version 1")),
        (ProxyBytes.v2(ProxyBytes.addresses, command: 0x31), .malformed(.v2, "it says version 3")),
        (ProxyBytes.v2(ProxyBytes.addresses, command: 0x22), .malformed(.v2, "command 2 is unknown")),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x13),
            .malformed(.v2, "family and transport 19 are unknown")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x10),
            .malformed(.v2, "family and transport 16 are unknown")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x01),
            .malformed(.v2, "family and transport 1 are unknown")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x41),
            .malformed(.v2, "family and transport 65 are unknown")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses.dropLast()),
            .malformed(.v2, "its addresses have 11 bytes, and not 12")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x21),
            .malformed(.v2, "its addresses have 12 bytes, and not 36")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses, command: 0x21, kind: 0x31),
            .malformed(.v2, "its addresses have 12 bytes, and not 216")
        ),
        (ProxyBytes.v2(ProxyBytes.addresses + [1]), .malformed(.v2, "its last value has no length")),
        (ProxyBytes.v2(ProxyBytes.addresses + [1, 0]), .malformed(.v2, "its last value has no length")),
        (
            ProxyBytes.v2(ProxyBytes.addresses + [1, 0, 2, 9]),
            .malformed(.v2, "its last value is longer than the header")
        ),
        (
            ProxyBytes.v2(ProxyBytes.addresses + [3, 0, 3, 1, 2, 3]),
            .malformed(.v2, "its checksum has 3 bytes, and not 4")
        ),
        (ProxyBytes.v2(ProxyBytes.addresses + [3, 0, 4, 0, 0, 0, 0]), .wrongChecksum),
        (ProxyBytes.v2([], length: 4081), .tooLong(limit: 4096)),
    ]

    @Test("bytes that break a rule are refused with the rule", arguments: 0..<badBytes.count)
    func wrongBytes(index: Int) {
        let (bytes, error) = Self.badBytes[index]
        #expect(refusal(bytes) == error)
    }

    @Test("every single bit that changes in a header with a checksum is found")
    func damage() throws {
        var sent = try ProxyHeader(source: clientAddress, destination: frontAddress)
        sent.tlvs = [.init(type: 0xE0, value: Data("value".utf8))]
        let bytes = [UInt8](try sent.bytes(.v2, checksummed: true))
        // Behind the 16 bytes that say what the header is: without the command, it is another header.
        for index in 16..<bytes.count {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                let read = try? header(damaged).0
                // A changed type of the checksum itself makes it another value.
                let isType = index == bytes.count - 7
                #expect(read == nil || (isType && read != sent), "byte \(index), bit \(bit)")
            }
        }
    }

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
        #expect(try header(padded).0.source == clientAddress)
        #expect(refusal(padded, limit: 4095) == .tooLong(limit: 4095))
        let large = ProxyBytes.v2(
            ProxyBytes.addresses + [0xE0, 0xFF, 0xF0] + [UInt8](repeating: 7, count: 0xFFF0))
        #expect(try header(large, limit: 65_551).0.tlvs.first?.value.count == 0xFFF0)
    }
}
