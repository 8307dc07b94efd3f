public import Futures

/// An address of a name: ``DNSResolver/addresses(of:on:)``.
public struct AddressRecord: Hashable, Sendable {
    /// The address, with the port 0.
    public let address: SocketAddress
    /// The time for which the address stays valid. Zero for numeric addresses, `localhost` and the `hosts` file.
    public let timeToLive: Duration
}

extension DNSResolver {
    /// Completes with the addresses of `name`, IPv6 first, each with the time for which it stays valid. Looks up `name`
    /// and fails as ``resolve(_:port:on:)`` does.
    public func addresses(of name: String, on loop: EventLoop) -> Future<[AddressRecord]> {
        look(on: loop) { try $0.addresses(of: name) }
    }
}

extension DNSAnswer {
    var addresses: [SocketAddress] {
        records.compactMap { record in
            guard case .address(let bytes) = record.value else { return nil }
            return SocketAddress(networkBytes: bytes, port: 0)
        }
    }
}
