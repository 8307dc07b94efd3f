/// The type of a record: its number and name, and what reads its data.
package struct DNSType: Sendable {
    package let rawValue: UInt16
    private let name: String?
    /// The Swift type that reads the data. `nil` for the types that ``DNSReader`` reads itself, and for unknown ones.
    let data: (any DNSRecordData.Type)?

    package init(rawValue: UInt16) { self.init(rawValue, nil) }

    package init(_ rawValue: UInt16, _ name: String?, holding data: (any DNSRecordData.Type)? = nil) {
        (self.rawValue, self.name, self.data) = (rawValue, name, data)
    }

    package static let ipv4 = DNSType(1, "A")
    package static let alias = DNSType(5, "CNAME")
    package static let authority = DNSType(6, "SOA")
    package static let ipv6 = DNSType(28, "AAAA")
    /// The EDNS0 record, which states the largest datagram that the sender accepts.
    package static let options = DNSType(41, "OPT")
}

extension DNSType: Hashable {
    package static func == (one: DNSType, other: DNSType) -> Bool { one.rawValue == other.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension DNSType: CustomStringConvertible {
    package var description: String { name ?? "TYPE\(rawValue)" }
}

/// The data of records of one type. Each type has a file of its own, with the ``DNSResolver`` method that asks for it.
package protocol DNSRecordData: Hashable, Sendable {
    /// Reads the data, `length` bytes, of a record of `owner`. Names in the data may point to elsewhere in the message.
    init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault)

    /// The time for which the record stays valid, counted from when it is given to a caller.
    var timeToLive: Duration { get set }
}
