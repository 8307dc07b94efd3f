internal import Futures

/// The resolver's work on its loop: looks names up in the files and at the name servers, and notices changes of the
/// configuration.
final class DNSEngine {
    let loop: LoopCore
    private let settings: DNSSettings
    private let counts: DNSCounts
    private var stamp: [Int]?
    private var nextCheck: LoopInstant?
    private var hosts = HostsFile([])
    private var current: DNSClient?

    /// The time between two checks whether the configuration has changed.
    private static let checkInterval = Duration.seconds(1)

    init(_ settings: DNSSettings, _ counts: DNSCounts, on loop: LoopCore) {
        self.settings = settings
        self.counts = counts
        self.loop = loop
    }

    /// Returns the client for the current configuration. A new configuration starts with an empty cache.
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
        // RFC 6761: queries for these names never leave the machine.
        if absolute.isWithin(DNSName(labels: [Array("localhost".utf8)])) {
            return known(SocketAddress.localhost(port: 0))
        }
        return search(for: name, in: try client.configuration.candidates(for: name)[...], client)
    }

    private func known(_ addresses: [SocketAddress]) -> Future<[AddressRecord]> {
        loop.succeeded(addresses.map { AddressRecord(address: $0, timeToLive: .zero) })
    }

    /// Looks up one candidate after another, until one has addresses. Any failure but silence lets the search go on.
    ///
    /// `told` is the error to report if no candidate has addresses. A failure of servers goes before all others, since
    /// the name may exist. Next comes the error about the name as the user gave it, without a search domain.
    private func search(
        for name: String, in candidates: ArraySlice<DNSName>, _ client: DNSClient,
        told: (error: ResolutionError, weight: Int)? = nil
    ) -> Future<[AddressRecord]> {
        let asked = candidates.first!
        return addresses(of: asked, called: name, client).flatMapError { [self] error in
            guard let error = error as? ResolutionError, error.code != .timedOut else { throw error }
            let weight = error.code == .nameServerFailed ? 2 : (try? DNSName(name)) == asked ? 1 : 0
            let new = (error: error, weight: weight)
            let told = told.flatMap { $0.weight >= weight ? $0 : nil } ?? new
            guard candidates.count > 1 else { throw told.error }
            return search(for: name, in: candidates.dropFirst(), client, told: told)
        }
    }

    private func addresses(
        of absolute: DNSName, called name: String, _ client: DNSClient
    ) -> Future<[AddressRecord]> {
        AddressPair(client).ask(absolute).named(name, asked: absolute).map { [loop] answers in
            let now = loop.now
            let records = answers.flatMap { answer in
                answer.addresses.map { AddressRecord(address: $0, timeToLive: answer.timeToLive(at: now)) }
            }
            guard !records.isEmpty else {
                throw (answers.first { !$0.isNameMissing } ?? answers[0]).failure(of: name)
            }
            return records
        }
    }

    // MARK: Other records

    /// Completes with the answer to a question for records of `type`. The answer may have no records.
    func answer(_ type: DNSType, of name: String) throws -> Future<DNSAnswer> {
        answer(type, of: try DNSName(name), called: name)
    }

    private func answer(_ type: DNSType, of absolute: DNSName, called name: String) -> Future<DNSAnswer> {
        client().answer(DNSQuestion(absolute, type)).named(name, asked: absolute)
    }

    /// Completes with an answer that has records of `type`.
    func records(_ type: DNSType, of name: String) throws -> Future<DNSAnswer> {
        try answer(type, of: name).having(name)
    }

    func names(of address: SocketAddress) throws -> Future<[PTRRecord]> {
        try requireArgument(
            !address.isUnix, "\(address) is not an IP address, so it has no names; give an IP address")
        _ = client()
        // An IPv4-mapped IPv6 address has the same names as its IPv4 address.
        let plain = address.unmapped
        if let name = hosts.name(of: plain) {
            return loop.succeeded([PTRRecord(listed: name)])
        }
        return answer(.pointer, of: DNSName(reverse: plain), called: address.host).having(address.host)
            .map { [loop] in $0.records(at: loop.now) }
    }
}

extension Future {
    /// Returns the same future, but its errors name `name`, as the user gave it, and also the name that was asked for
    /// if that is a different one.
    fileprivate func named(_ name: String, asked: DNSName) -> Future {
        mapError { error in
            guard let error = error as? ResolutionError else { return error }
            let isSame = (try? DNSName(name)) == asked
            let reason = error.reason.map { isSame ? $0 : "\($0), asked for \(asked)" }
            return ResolutionError(name: name, code: error.code, server: error.server, reason: reason)
        }
    }
}

extension Future<DNSAnswer> {
    /// Returns the same future, but fails if the answer has no records.
    fileprivate func having(_ name: String) -> Future {
        map { answer in
            guard !answer.records.isEmpty else { throw answer.failure(of: name) }
            return answer
        }
    }
}
