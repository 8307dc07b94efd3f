public import FoundationEssentials
internal import Futures

/// An address of a name: ``DNSResolver/addresses(of:on:)``.
public struct AddressRecord: Hashable, Sendable {
    /// The address, with the port 0.
    public let address: SocketAddress
    /// The time for which the address stays valid. Zero if it comes from the `hosts` file.
    public let timeToLive: Duration
}

/// A server of a service: ``DNSResolver/services(of:on:)``.
public struct SRVRecord: Hashable, Sendable {
    /// The priority. Clients try servers with a lower number first.
    public let priority: Int
    /// The relative share of clients that the server takes, among servers of the same priority.
    public let weight: Int
    public let port: Int
    /// The name of the server, without a trailing dot.
    public let target: String
    public let timeToLive: Duration
}

/// A text of a name: ``DNSResolver/texts(of:on:)``.
public struct TXTRecord: Hashable, Sendable {
    /// The strings of the record. Each has at most 255 bytes, in any encoding.
    public let strings: [Data]
    public let timeToLive: Duration

    /// The strings, joined without a separator. Bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: strings.joined(), as: UTF8.self) }
}

/// A server that takes the mail of a domain: ``DNSResolver/mailExchanges(of:on:)``.
public struct MXRecord: Hashable, Sendable {
    /// The preference. Senders try servers with a lower number first.
    public let preference: Int
    /// The name of the server, without a trailing dot.
    public let exchange: String
    public let timeToLive: Duration
}

/// A name of an address: ``DNSResolver/names(of:on:)``.
public struct PTRRecord: Hashable, Sendable {
    /// The name, without a trailing dot. The owner of the address chooses it freely: a byte that is not visible ASCII
    /// appears as a backslash and three decimal digits.
    public let name: String
    /// The time for which the name stays valid. Zero if it comes from the `hosts` file.
    public let timeToLive: Duration
}

extension DNSAnswer {
    var addresses: [SocketAddress] {
        records.compactMap { record in
            guard case .address(let bytes) = record.value else { return nil }
            return SocketAddress(networkBytes: bytes, port: 0)
        }
    }

    func services(at now: LoopInstant) -> [SRVRecord] {
        records.compactMap { record in
            guard case .service(let priority, let weight, let port, let target) = record.value else {
                return nil
            }
            return SRVRecord(
                priority: Int(priority), weight: Int(weight), port: Int(port), target: "\(target)",
                timeToLive: timeToLive(at: now))
        }
    }

    func texts(at now: LoopInstant) -> [TXTRecord] {
        records.compactMap { record in
            guard case .text(let strings) = record.value else { return nil }
            return TXTRecord(strings: strings.map { Data($0) }, timeToLive: timeToLive(at: now))
        }
    }

    func mailExchanges(at now: LoopInstant) -> [MXRecord] {
        records.compactMap { record in
            guard case .exchange(let preference, let exchange) = record.value else { return nil }
            return MXRecord(
                preference: Int(preference), exchange: "\(exchange)", timeToLive: timeToLive(at: now))
        }
    }

    func names(at now: LoopInstant) -> [PTRRecord] {
        records.compactMap { record in
            guard case .pointer(let name) = record.value else { return nil }
            return PTRRecord(name: "\(name)", timeToLive: timeToLive(at: now))
        }
    }
}
