import ArgumentParser
import UVFutures

/// Asks name servers, as `dig` does, for all names that it is given at the same time.
@main
struct Lookup: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Asks name servers for the records of names.")

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case addresses, services, texts, mail, https, names
    }

    @Option(help: "A name server, instead of those of /etc/resolv.conf. May be given several times.")
    var server: [String] = []

    @Option(help: "The port of the servers.")
    var port = 53

    @Option(help: "What to ask for.")
    var type = Kind.addresses

    @Flag(help: "Ask with letters of random case.")
    var randomCase = false

    @Flag(help: "Say at the end what it took.")
    var statistics = false

    @Argument(help: "The names, or the addresses for --type names.")
    var name: [String]

    func run() throws {
        let loop = EventLoop.main
        let servers = try server.map { try SocketAddress(host: $0, port: port) }
        let resolver = try DNSResolver(servers: servers.isEmpty ? nil : servers, randomizesCase: randomCase)
        let outcomes = try loop.run(
            until: Future.allSettled(name.map { lines(for: $0, resolver, loop) }, on: loop))
        var hasFailed = false
        for (name, outcome) in zip(name, outcomes) {
            switch outcome {
            case .success(let lines): for line in lines { print("\(name) \(line)") }
            case .failure(let error):
                print("\(error)")
                hasFailed = true
            }
        }
        if statistics { print(resolver.statistics) }
        if hasFailed { throw ExitCode.failure }
    }

    /// Completes with a line for each record, which ends with its time to live in seconds.
    private func lines(for name: String, _ resolver: DNSResolver, _ loop: EventLoop) -> Future<[String]> {
        func line(_ text: String, _ timeToLive: Duration) -> String {
            "\(text) \(Int((timeToLive / .seconds(1)).rounded(.up)))"
        }
        switch type {
        case .addresses:
            return resolver.addresses(of: name, on: loop)
                .map { $0.map { line($0.address.host, $0.timeToLive) } }
        case .services:
            return resolver.services(of: name, on: loop)
                .map { $0.map { line("\($0.priority) \($0.weight) \($0.port) \($0.target)", $0.timeToLive) } }
        case .texts:
            return resolver.texts(of: name, on: loop)
                .map { $0.map { line($0.strings.map(zoneText).joined(separator: " "), $0.timeToLive) } }
        case .mail:
            return resolver.mailExchanges(of: name, on: loop)
                .map { $0.map { line("\($0.preference) \($0.exchange)", $0.timeToLive) } }
        case .https:
            return resolver.httpsServices(of: name, on: loop).map {
                $0.map { line(text(of: $0), $0.timeToLive) }
            }
        case .names:
            return loop.flatSubmit { resolver.names(of: try SocketAddress(host: name, port: 0), on: loop) }
                .map { $0.map { line($0.name, $0.timeToLive) } }
        }
    }

    private func text(of record: HTTPSRecord) -> String {
        let port = record.port.map { " port=\($0)" } ?? ""
        let hints = record.addressHints.map { " hint=\($0.host)" }.joined()
        return "\(record.priority) \(record.target) \(record.protocols.joined(separator: ","))\(port)\(hints)"
    }
}
