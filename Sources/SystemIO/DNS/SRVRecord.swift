public import Futures

/// A server of a service: ``DNSResolver/services(of:on:)``.
public struct SRVRecord: Hashable, Sendable {
    /// The priority. Clients try servers with a lower number first.
    public let priority: Int
    /// The relative share of clients that the server takes, among servers of the same priority.
    public let weight: Int
    public let port: Int
    /// The name of the server, without a trailing dot.
    public let target: String
    public package(set) var timeToLive = Duration.zero
}

extension DNSResolver {
    /// Completes with the servers of a service, in the order in which to try them. The name of a service looks like
    /// `_http._tcp.example.com`.
    ///
    /// Servers with a lower priority come first. Each call orders servers of the same priority at random, and puts
    /// those with a higher weight first more often ([RFC 2782](https://www.rfc-editor.org/rfc/rfc2782)). The names of
    /// the servers still have to be resolved, as `connect` does. `service` is an absolute name: the `search` domains do
    /// not apply.
    ///
    /// Fails with ``ResolutionError`` if no such records exist, if the domain says that it does not have the service,
    /// or if no server has given an answer. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `service` is
    /// malformed.
    ///
    /// ```swift
    /// let resolver = try DNSResolver()
    /// let server = try await resolver.services(of: "_http._tcp.example.com", on: loop).value[0]
    /// let connection = TCPConnection.connect(host: server.target, port: server.port, on: loop)
    /// ```
    public func services(of service: String, on loop: EventLoop) -> Future<[SRVRecord]> {
        look(on: loop) { engine in
            try engine.records(.service, of: service).map { answer in
                let records = answer.records(of: SRVRecord.self, at: engine.loop.now)
                guard records.contains(where: { $0.target != "." }) else {
                    throw answer.failure(of: service, because: "the domain does not have the service")
                }
                return records.ordered(using: &engine.loop.random)
            }
        }
    }
}

extension DNSType {
    package static let service = DNSType(33, "SRV", holding: SRVRecord.self)
}

extension SRVRecord: DNSRecordData {
    package init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault) {
        priority = Int(try reader.number16())
        weight = Int(try reader.number16())
        port = Int(try reader.number16())
        target = "\(try reader.name())"
    }
}
