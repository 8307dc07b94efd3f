import ArgumentParser
import ExampleSupport
import UVFutures

/// Answers health checks on a UDP port, and checks its peers, which it finds by a service of the DNS.
///
/// Each peer runs the same program. It shows datagrams in both directions by one socket, and names by SRV.
@main
struct Heartbeat: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answers health checks by UDP, and says which of its peers do.",
        discussion: "Try it: printf 'ping 1' | nc -u -w 1 127.0.0.1 7008")

    @Option(help: "The address to answer on.")
    var host = "127.0.0.1"

    @Option(help: "The port to answer on; 0 picks a free one.")
    var port = 7008

    @Option(help: "The service whose servers are the peers, such as _health._udp.example.com.")
    var service: String?

    @Option(help: "A name server as ADDRESS:PORT, instead of those of /etc/resolv.conf.")
    var nameServer: String?

    @Option(help: "How many seconds lie between two checks of a peer.")
    var interval = 1.0

    func validate() throws {
        guard interval >= 0.01, interval <= 3600 else {
            throw ValidationError("an interval of \(interval) seconds makes no sense; give 0.01 to 3600")
        }
        _ = try nameServers()
    }

    func run() throws {
        let loop = EventLoop.main
        let socket = try start(on: loop) { peer, isUp in
            say("\(peer) is \(isUp ? "up" : "down")")
        }
        say("answering on \(socket.localAddress)")
        try loop.run(until: Future.race([loop.signal(.interrupt), loop.signal(.terminate)]))
        loop.shutdown()
    }

    /// Answers, and checks the peers. Calls `changed` when a peer comes up or goes down.
    @discardableResult
    func start(
        on loop: EventLoop, _ changed: @escaping (_ peer: SocketAddress, _ isUp: Bool) -> Void
    ) throws -> UDPSocket {
        let socket = try UDPSocket.bind(host: host, port: port, on: loop)
        let checks = Checks(socket, changed)
        socket.forEachDatagram { bytes, header in checks.take(bytes, from: header) }.ignoreFailure()
        guard let service else { return socket }
        let resolver = try DNSResolver(servers: try nameServers())
        /// The resolver keeps an answer for as long as it is valid, so not each round asks a server.
        func check() -> Future<Void> {
            resolver.services(of: service, on: loop)
                .flatMap { servers in
                    loop.traverse(servers) {
                        resolver.resolve($0.target, port: $0.port, on: loop).recover { _ in [] }
                    }
                }
                .map { checks.round(of: $0.flatMap { $0 }) }
                // Without an answer of the DNS, the peers of the last round stay.
                .recover { _ in checks.round() }
                .flatMap { loop.sleep(for: .seconds(interval)) }
                .flatMap(check)
        }
        check().ignoreFailure()
        return socket
    }

    private func nameServers() throws -> [SocketAddress]? {
        guard let nameServer else { return nil }
        guard let colon = nameServer.lastIndex(of: ":"),
            let port = Int(nameServer[nameServer.index(after: colon)...])
        else { throw ValidationError("--name-server takes an address and a port, as in 127.0.0.1:53") }
        return [try SocketAddress(host: String(nameServer[..<colon]), port: port)]
    }
}
