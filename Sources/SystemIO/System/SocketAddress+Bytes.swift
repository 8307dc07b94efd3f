extension SocketAddress {
    /// Creates an address from its bytes in network order: four, or else sixteen.
    package init(networkBytes bytes: [UInt8], port: UInt16) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        if bytes.count == 4 {
            self.init(.ipv4(UInt32(number(bytes[...])), port: port))
        } else {
            self.init(.ipv6(high: number(bytes[..<8]), low: number(bytes[8...]), zone: 0, port: port))
        }
    }

    /// The bytes of the address in network order: four or sixteen. Empty in the UNIX domain.
    package var networkBytes: [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            stride(from: number.bitWidth - 8, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: number >> $0)
            }
        }
        return switch form {
        case .ipv4(let address, _): bytes(address)
        case .ipv6(let high, let low, _, _): bytes(high) + bytes(low)
        case .unix: []
        }
    }
}
