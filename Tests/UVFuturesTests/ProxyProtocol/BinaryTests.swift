import ByteStreams
import FoundationEssentials
import Futures
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct BinaryTests {
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
        (
            ProxyBytes.v2(ProxyBytes.addresses + [3, 0, 4, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0]),
            .malformed(.v2, "it has more than one checksum")
        ),
        (ProxyBytes.v2([], length: 4081), .tooLong(limit: 4096)),
        // The first wrong byte is the last one.
        (ProxyBytes.signature + [0x31], .malformed(.v2, "it says version 3")),
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

    @Test(
        "a header is read in time that its size is in proportion to",
        arguments: [[1, 0, 0], [4, 0, 0], [1, 0, 1, 7], [3, 0, 4, 0, 0, 0, 0]] as [[UInt8]])
    func growth(tlv: [UInt8]) {
        expectLinear(from: 1024, upTo: 65_536) { size in
            let tlvs = Array(repeating: tlv, count: size / tlv.count).flatMap { $0 }
            let bytes = ProxyBytes.v2(ProxyBytes.addresses + tlvs.prefix(65_000))
            return { _ = try? ProxyHeader(binary: bytes) }
        }
    }
}
