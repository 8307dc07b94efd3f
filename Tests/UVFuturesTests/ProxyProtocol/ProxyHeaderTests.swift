import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing
import UVFutures

/// Reads a header from bytes that come as a connection brings them.
func header(_ bytes: [UInt8], limit: Int = 4096, pieces: Int = .max) throws -> (ProxyHeader, rest: [UInt8]) {
    let loop = EventLoop.virtual()
    let (near, far) = try MemoryStream.pair(on: loop)
    defer {
        near.abort()
        far.abort()
        loop.shutdown()
    }
    let read = near.readMessage(decodedBy: ProxyHeaderDecoder(limit: limit))
    var rest = bytes[...]
    while !rest.isEmpty {
        far.write(Array(rest.prefix(pieces)))
        rest = rest.dropFirst(pieces)
        loop.advance(by: .zero)
    }
    far.shutdownWrite()
    let header = try loop.run(until: read)!
    let left = [UInt8](try loop.run(until: near.readToEnd()))
    return (header, left)
}

func refusal(_ bytes: [UInt8], limit: Int = 4096) -> ProxyProtocolError? {
    do {
        let found = try header(bytes, limit: limit)
        Issue.record("taken: \(found)")
        return nil
    } catch {
        return error as? ProxyProtocolError
    }
}

let clientAddress = try! SocketAddress(host: "192.0.2.7", port: 51234)
let frontAddress = try! SocketAddress(host: "198.51.100.1", port: 443)

struct ProxyHeaderTests {
    static let pairs: [(SocketAddress, SocketAddress)] = [
        (clientAddress, frontAddress),
        (try! SocketAddress(host: "2001:db8::7", port: 1), try! SocketAddress(host: "::1", port: 65535)),
        (try! SocketAddress(path: "/run/client"), try! SocketAddress(path: "@front")),
    ]

    @Test(
        "what one side writes the other reads, and not a byte more", arguments: 0..<pairs.count,
        ProxyHeader.Version.allCases)
    func roundTrip(index: Int, version: ProxyHeader.Version) throws {
        let (source, destination) = Self.pairs[index]
        for checksummed in [false, true] {
            for pieces in [1, 7, .max] {
                let sent = try ProxyHeader(
                    source: source, destination: destination,
                    tlvs: version == .v1
                        ? [] : [.init(type: 1, value: Data("h2".utf8)), .init(type: 0xEA, value: Data())])
                let bytes = [UInt8](try sent.bytes(version, checksummed: checksummed))
                let (read, rest) = try header(bytes + Array("GET /".utf8), pieces: pieces)
                #expect(rest == Array("GET /".utf8))
                if version == .v1, source.path != nil {
                    #expect(read == .unknown)
                } else {
                    #expect(read == sent)
                }
            }
        }
    }

    @Test(
        "a proxy that speaks for itself, or knows nothing, says so", arguments: ProxyHeader.Version.allCases)
    func withoutAddresses(version: ProxyHeader.Version) throws {
        for sent in [ProxyHeader.local, .unknown] {
            let (read, _) = try header([UInt8](try sent.bytes(version)))
            #expect(read.source == nil && read.destination == nil)
            #expect(read.isLocal == (sent.isLocal && version == .v2))
        }
    }

    @Test("addresses of IPv4 and IPv6 together are both written as IPv6")
    func mixed() throws {
        let header = try ProxyHeader(
            source: clientAddress, destination: try SocketAddress(host: "::1", port: 2))
        #expect(header.source?.host == "::ffff:192.0.2.7" && header.source?.port == 51234)
        #expect(
            String(decoding: try header.bytes(.v1), as: UTF8.self)
                == "PROXY TCP6 ::ffff:192.0.2.7 ::1 51234 2\r\n")
        let mapped = try SocketAddress(host: "::ffff:192.0.2.7", port: 51234)
        #expect(try ProxyHeader(source: mapped, destination: frontAddress).source == clientAddress)
        #expect(
            throws: FutureError.invalidArgument(
                "a PROXY header cannot have both unix:/s and 198.51.100.1:443; give two IP addresses, or two "
                    + "of the UNIX domain")
        ) {
            try ProxyHeader(source: try SocketAddress(path: "/s"), destination: frontAddress)
        }
    }

    @Test("bytes that others have made are read: as the specification lays them out")
    func foreign() throws {
        let line = try header(Array("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".utf8)).0
        #expect(line.source == (try SocketAddress(host: "255.255.255.255", port: 65535)))
        let longest =
            "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535 and whatever else the sender might have in mind\r\n"
        #expect(try header(Array(longest.utf8)).0 == .unknown)
        let binary: [UInt8] =
            ProxyBytes.signature + [0x21, 0x11, 0, 12, 127, 0, 0, 1, 127, 0, 0, 1, 0x80, 0xE8, 0x1F, 0x90]
        let read = try header(binary).0
        #expect(
            read.source?.description == "127.0.0.1:33000" && read.destination?.description == "127.0.0.1:8080"
        )
        let datagram = try header(ProxyBytes.signature + [0x21, 0x12] + binary.dropFirst(14)).0
        #expect(datagram.isDatagram && datagram.source == read.source)
        // The checksum comes from another implementation, whose value for "123456789" is E3069283.
        let checksummed = binary[..<15] + [19] + binary[16...] + [3, 0, 4, 0xF2, 0x47, 0x35, 0xB5]
        #expect(try header(Array(checksummed)).0 == read)
        #expect([UInt8](try read.bytes(.v2, checksummed: true)) == Array(checksummed))
        #expect(Array(try ProxyHeader.local.bytes(.v2)) == ProxyBytes.signature + [0x20, 0, 0, 0])
    }

    @Test(
        "paths that are no UTF-8, and become longer as text, are read and written",
        arguments: [0x31, 0x32] as [UInt8])
    func otherPaths(kind: UInt8) throws {
        let paths: [[UInt8]] = [
            [UInt8](repeating: 0xFF, count: 108), [0] + [UInt8](repeating: 0xFF, count: 107),
            [UInt8](repeating: 0x61, count: 108),
        ]
        for path in paths {
            let bytes = ProxyBytes.v2(path + path, command: 0x21, kind: kind)
            let read = try header(bytes).0
            #expect(read.source?.path?.isEmpty == false && read.isDatagram == (kind == 0x32))
            #expect([UInt8](try read.bytes(.v2)) == bytes)
        }
    }

    @Test("a header that is too long to write is refused")
    func tooLongToWrite() throws {
        var header = ProxyHeader.local
        header.tlvs = [.init(type: 1, value: Data(count: 65_536))]
        #expect(
            throws: FutureError.invalidArgument(
                "a value of 65536 bytes is too long for a PROXY header; give at most 65535")
        ) { try header.bytes(.v2) }
        header.tlvs = [.init(type: 1, value: Data(count: 65_535))]
        #expect(
            throws: FutureError.invalidArgument(
                "a PROXY header with 65538 bytes of addresses and values is too long; give at most 65535")
        ) { try header.bytes(.v2) }
        header.tlvs = [.init(type: 1, value: Data(count: 65_532))]
        #expect(try header.bytes(.v2).count == 65_551)
        header.tlvs = [.init(type: 1, value: Data(count: 65_533))]
        #expect(throws: FutureError.self) { try header.bytes(.v2) }
    }
}

enum ProxyBytes {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    static let addresses: [UInt8] = [192, 0, 2, 7, 198, 51, 100, 1, 0xC8, 0x22, 1, 0xBB]
    static func v2(
        _ body: [UInt8], command: UInt8 = 0x21, kind: UInt8 = 0x11, length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? body.count
        return signature + [command, kind, UInt8(length >> 8), UInt8(length & 0xFF)] + body
    }
}
