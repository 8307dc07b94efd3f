internal import Futures

/// The resolver's work on its loop: finds names in the files and at the name servers, and notices when the
/// configuration changes.
final class DNSEngine {
    let loop: LoopCore
    private let settings: DNSSettings
    private let counts: DNSCounts
    private var stamp: NameConfiguration.Stamp?
    private var nextCheck: LoopInstant?
    private var hosts = HostsFile([])
    private var current: DNSClient?

    /// How long the configuration is used without a look whether it has changed.
    private static let checkInterval = Duration.seconds(1)

    init(_ settings: DNSSettings, _ counts: DNSCounts, on loop: LoopCore) {
        self.settings = settings
        self.counts = counts
        self.loop = loop
    }

    /// The client for the configuration that holds now. A new configuration begins with an empty cache.
    private func client() -> DNSClient {
        let now = loop.now
        if let current, let nextCheck, now < nextCheck { return current }
        nextCheck = now.advanced(by: Self.checkInterval)
        if let configuration = loop.system.nameConfiguration(unless: stamp) {
            stamp = configuration.stamp
            hosts = HostsFile(configuration.hosts)
            current = DNSClient(ResolvConf(configuration.resolvConf), settings, counts, on: loop)
        }
        return current!
    }

    // MARK: Addresses

    /// Completes with the addresses of `name`, at least one.
    func addresses(of name: String) throws -> Future<[AddressRecord]> {
        let client = client()
        if case .numeric(let address) = try Host(name, port: 0) { return known([address]) }
        let absolute = try DNSName(name)
        let listed = hosts.addresses(of: "\(absolute)")
        if !listed.isEmpty { return known(listed) }
        // RFC 6761: these names never leave the machine.
        if absolute.isWithin(DNSName(labels: [Array("localhost".utf8)])) {
            return known(SocketAddress.localhost(port: 0))
        }
        return search(for: name, in: try client.configuration.candidates(for: name)[...], client)
    }

    private func known(_ addresses: [SocketAddress]) -> Future<[AddressRecord]> {
        loop.succeeded(addresses.map { AddressRecord(address: $0, timeToLive: .zero) })
    }

    /// Looks for one candidate after another, until one has addresses. Only the answer that a candidate has none
    /// lets the search go on.
    private func search(
        for name: String, in candidates: ArraySlice<DNSName>, _ client: DNSClient, shortest: DNSAnswer? = nil
    ) -> Future<[AddressRecord]> {
        AddressPair(on: loop).ask(candidates.first!, client).flatMap { [self] answers in
            let now = loop.now
            let records = answers.flatMap { answer in
                answer.addresses.map {
                    AddressRecord(address: $0, timeToLive: answer.timeToLive(at: now))
                }
            }
            if !records.isEmpty { return loop.succeeded(records) }
            // The error speaks of the name as the user gave it, and of no domain.
            let answer = [shortest, answers[0]].compactMap { $0 }
                .min { $0.question.name.wire.count < $1.question.name.wire.count }!
            guard candidates.count > 1 else { throw answer.failure(of: name) }
            return search(for: name, in: candidates.dropFirst(), client, shortest: answer)
        }
    }

    // MARK: Other records

    /// Completes with an answer that has records of `type`.
    func records(_ type: DNSType, of name: String) throws -> Future<DNSAnswer> {
        records(type, of: try DNSName(name), called: name)
    }

    private func records(_ type: DNSType, of absolute: DNSName, called name: String) -> Future<DNSAnswer> {
        client().answer(DNSQuestion(absolute, type)).map { answer in
            guard !answer.records.isEmpty else { throw answer.failure(of: name) }
            return answer
        }
    }

    func names(of address: SocketAddress) throws -> Future<[PTRRecord]> {
        guard address.path == nil else {
            throw FutureError.invalidArgument("\(address) is no IP address, and has no names")
        }
        _ = client()
        if let name = hosts.name(of: address) {
            return loop.succeeded([PTRRecord(name: name, timeToLive: .zero)])
        }
        return records(.pointer, of: DNSName(reverse: address), called: address.host)
            .map { [loop] in $0.names(at: loop.now) }
    }
}
