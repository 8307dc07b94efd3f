/// A question to a name server: which records of one type does a name have in the Internet class?
package struct DNSQuestion: Hashable {
    package let name: DNSName
    package let type: DNSType

    package init(_ name: DNSName, _ type: DNSType) { (self.name, self.type) = (name, type) }

    /// The Internet class of records.
    package static let internet: UInt16 = 1
}
