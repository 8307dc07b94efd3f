public import Futures

/// A name of an address: ``DNSResolver/names(of:on:)``.
public struct PTRRecord: Hashable, Sendable {
    /// The name, without a trailing dot. The owner of the address chooses it freely: a byte that is not visible ASCII
    /// appears as a backslash and three decimal digits.
    public let name: String
    /// The time for which the name stays valid. Zero if it comes from the `hosts` file.
    public package(set) var timeToLive = Duration.zero
}

extension DNSResolver {
    /// Completes with the names of an IPv4 or IPv6 address. `::ffff:192.0.2.1` counts as IPv4. The port is ignored. The
    /// owner of the address chooses these names, so they prove nothing.
    ///
    /// Fails with ``ResolutionError`` if the address has no name, or if no server has given an answer. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `address` is in the UNIX domain.
    public func names(of address: SocketAddress, on loop: EventLoop) -> Future<[PTRRecord]> {
        look(on: loop) { try $0.names(of: address) }
    }
}

extension DNSType {
    package static let pointer = DNSType(12, "PTR", holding: PTRRecord.self)
}

extension PTRRecord: DNSRecordData {
    package init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault) {
        name = "\(try reader.name())"
    }
}

extension PTRRecord {
    /// Creates the record of a name that the `hosts` file has.
    init(listed name: String) { self.name = name }
}
