public import Futures

/// A server that takes the mail of a domain: ``DNSResolver/mailExchanges(of:on:)``.
public struct MXRecord: Hashable, Sendable {
    /// The preference. Senders try servers with a lower number first.
    public let preference: Int
    /// The name of the server, without a trailing dot.
    public let exchange: String
    public package(set) var timeToLive = Duration.zero
}

extension DNSResolver {
    /// Completes with the mail servers of `domain`, the preferred server first. `domain` is an absolute name.
    ///
    /// Fails as ``services(of:on:)`` does, also if the domain says that it takes no mail. A domain without such records
    /// may take mail at its own address.
    public func mailExchanges(of domain: String, on loop: EventLoop) -> Future<[MXRecord]> {
        look(on: loop) { engine in
            try engine.records(.exchange, of: domain).map { answer in
                let records = answer.records(of: MXRecord.self, at: engine.loop.now)
                guard records.contains(where: { $0.exchange != "." }) else {
                    throw answer.failure(of: domain, because: "the domain takes no mail")
                }
                return records.sorted { $0.preference < $1.preference }
            }
        }
    }
}

extension DNSType {
    package static let exchange = DNSType(15, "MX", holding: MXRecord.self)
}

extension MXRecord: DNSRecordData {
    package init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault) {
        preference = Int(try reader.number16())
        exchange = "\(try reader.name())"
    }
}
