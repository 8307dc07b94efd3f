public import FoundationEssentials
internal import Futures

extension ProxyHeader {
    private static let checksumType: UInt8 = 3
    private static let paddingType: UInt8 = 4

    /// Reads a header of version 2 from all its bytes. The decoder has looked at the first 16.
    init(binary bytes: [UInt8]) throws {
        // The receiver of such a header ignores the rest of it.
        if bytes[12] & 0xF == 0 {
            self = .local
            return
        }
        let size: Int
        switch bytes[13] {
        case 0: size = 0
        case 0x11, 0x12: size = 12
        case 0x21, 0x22: size = 36
        case 0x31, 0x32: size = 2 * SocketAddress.unixSize
        case let kind: throw ProxyProtocolError.malformed(.v2, "family and transport \(kind) are unknown")
        }
        let body = bytes[16...]
        guard body.count >= size else {
            throw ProxyProtocolError.malformed(.v2, "its addresses have \(body.count) bytes, and not \(size)")
        }
        let tlvs = try Self.tlvs(body.dropFirst(size), in: bytes)
        guard size > 0 else {
            self.init(nil, nil, tlvs)
            return
        }
        let addresses = Self.addresses(body.prefix(size))
        self.init(addresses[0], addresses[1], isDatagram: bytes[13] & 0xF == 2, tlvs)
    }

    private static func addresses(_ block: ArraySlice<UInt8>) -> [SocketAddress] {
        let unixSize = SocketAddress.unixSize
        guard block.count < 2 * unixSize else {
            return [block.prefix(unixSize), block.suffix(unixSize)].map { SocketAddress(proxied: $0) }
        }
        let width = block.count == 12 ? 4 : 16
        return [0, 1].map { index in
            let port = block.dropFirst(2 * width + 2 * index).prefix(2).reduce(UInt16(0)) {
                $0 << 8 | UInt16($1)
            }
            return SocketAddress(
                networkBytes: Array(block.dropFirst(width * index).prefix(width)), port: port)
        }
    }

    private static func tlvs(_ block: ArraySlice<UInt8>, in header: [UInt8]) throws -> [TLV] {
        var (rest, tlvs) = (block, [TLV]())
        var checksum: ArraySlice<UInt8>?
        while !rest.isEmpty {
            guard rest.count >= 3 else {
                throw ProxyProtocolError.malformed(.v2, "its last value has no length")
            }
            let (type, start) = (rest[rest.startIndex], rest.startIndex + 3)
            let size = Int(rest[start - 2]) << 8 + Int(rest[start - 1])
            guard rest.endIndex - start >= size else {
                throw ProxyProtocolError.malformed(.v2, "its last value is longer than the header")
            }
            let value = rest[start..<start + size]
            if type == checksumType {
                // Each checksum costs a look at the whole header.
                guard checksum == nil else {
                    throw ProxyProtocolError.malformed(.v2, "it has more than one checksum")
                }
                checksum = value
            } else if type != paddingType {
                tlvs.append(TLV(type: type, value: Data(value)))
            }
            rest = rest[(start + size)...]
        }
        if let checksum { try check(checksum, in: header) }
        return tlvs
    }

    private static func check(_ value: ArraySlice<UInt8>, in header: [UInt8]) throws {
        guard value.count == 4 else {
            throw ProxyProtocolError.malformed(.v2, "its checksum has \(value.count) bytes, and not 4")
        }
        var bytes = header
        bytes.replaceSubrange(value.indices, with: [0, 0, 0, 0])
        guard checksum(bytes).elementsEqual(value) else { throw ProxyProtocolError.wrongChecksum }
    }

    /// Returns the CRC32c of `bytes`, with the most significant byte first.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~crc >> $0) }
    }

    /// Returns the bytes that a proxy sends before all others.
    ///
    /// Version 1 leaves out the ``tlvs``, and says `UNKNOWN` for a header without addresses, with addresses in the UNIX
    /// domain, or for a client that sends datagrams. With `checksummed`, a header of version 2 gets a CRC32c. Throws
    /// `FutureError.invalidArgument` if the header of version 2 would have more than 65,551 bytes.
    ///
    /// ```swift
    /// let header = try ProxyHeader(source: connection.peerAddress!, destination: connection.localAddress!)
    /// peer.write(try header.bytes(.v2))
    /// ```
    public func bytes(_ version: Version, checksummed: Bool = false) throws -> Data {
        guard version == .v2 else { return Data(line) }
        let (kind, addresses) = addressBlock
        var body = addresses
        for tlv in tlvs {
            try requireArgument(
                tlv.value.count <= UInt16.max,
                "a value of \(tlv.value.count) bytes is too long for a PROXY header; give at most 65535")
            body += [tlv.type] + Self.big(tlv.value.count) + tlv.value
        }
        if checksummed { body += [Self.checksumType, 0, 4, 0, 0, 0, 0] }
        try requireArgument(
            body.count <= UInt16.max,
            "a PROXY header with \(body.count) bytes of addresses and values is too long; give at most 65535")
        var bytes =
            ProxyHeaderDecoder.signature + [isLocal ? 0x20 : 0x21, kind] + Self.big(body.count) + body
        if checksummed { bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: Self.checksum(bytes)) }
        return Data(bytes)
    }

    private static func big(_ count: Int) -> [UInt8] { [UInt8(count >> 8), UInt8(count & 0xFF)] }

    /// The byte that tells family and transport, and the bytes of the addresses.
    private var addressBlock: (UInt8, [UInt8]) {
        guard let source, let destination else { return (0, []) }
        let transport: UInt8 = isDatagram ? 2 : 1
        if case .unix(let from) = source.form, case .unix(let to) = destination.form {
            return (0x30 | transport, Self.padded(from) + Self.padded(to))
        }
        let ports = Self.big(source.port) + Self.big(destination.port)
        return (
            (source.isIPv6 ? 0x20 : 0x10) | transport, source.networkBytes + destination.networkBytes + ports
        )
    }

    private static func padded(_ name: [UInt8]) -> [UInt8] {
        name + [UInt8](repeating: 0, count: SocketAddress.unixSize - name.count)
    }
}

extension SocketAddress {
    /// Reads an address of the UNIX domain that is padded with zero bytes.
    fileprivate init(proxied bytes: ArraySlice<UInt8>) {
        var name = bytes
        if name.first == 0 {
            // Zero bytes at the end of an abstract name cannot be told from the padding.
            while name.last == 0 { name.removeLast() }
        } else {
            name = name.prefix { $0 != 0 }
        }
        self.init(.unix(Array(name)))
    }
}
