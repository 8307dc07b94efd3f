/// The type of a record, by its number.
package struct DNSType: RawRepresentable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let ipv4 = DNSType(rawValue: 1)
    package static let alias = DNSType(rawValue: 5)
    package static let authority = DNSType(rawValue: 6)
    package static let pointer = DNSType(rawValue: 12)
    package static let exchange = DNSType(rawValue: 15)
    package static let text = DNSType(rawValue: 16)
    package static let ipv6 = DNSType(rawValue: 28)
    package static let service = DNSType(rawValue: 33)
    /// The EDNS0 record, which states the largest datagram that the sender accepts.
    package static let options = DNSType(rawValue: 41)
}

extension DNSType: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ipv4: "A"
        case .alias: "CNAME"
        case .authority: "SOA"
        case .pointer: "PTR"
        case .exchange: "MX"
        case .text: "TXT"
        case .ipv6: "AAAA"
        case .service: "SRV"
        default: "TYPE\(rawValue)"
        }
    }
}

/// A question to a name server: for the records of one type that a name has in the Internet class.
package struct DNSQuestion: Hashable {
    package let name: DNSName
    package let type: DNSType

    package init(_ name: DNSName, _ type: DNSType) { (self.name, self.type) = (name, type) }

    /// The Internet class of records.
    package static let internet: UInt16 = 1
}
