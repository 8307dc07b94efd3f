/// A question to a name server: for the records of one type that a name has in the Internet class.
package struct DNSQuestion: Hashable {
    package let name: DNSName
    package let type: DNSType

    package init(_ name: DNSName, _ type: DNSType) { (self.name, self.type) = (name, type) }

    /// The Internet class of records.
    package static let internet: UInt16 = 1
}
