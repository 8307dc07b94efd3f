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
        let scope = FutureScope(on: loop)
        let socket = try start(in: scope) { peer, isUp in say("\(peer) is \(isUp ? "up" : "down")") }
        say("answering on \(socket.localAddress)")
        try loop.run(until: scope.drain(on: .interrupt, .terminate, within: .zero))
    }

    /// Answers, and checks the peers. Calls `changed` when a peer comes up or goes down.
    @discardableResult
    func start(
        in scope: FutureScope, _ changed: @escaping (_ peer: SocketAddress, _ isUp: Bool) -> Void
    ) throws -> UDPSocket {
        let loop = scope.loop
        let socket = scope.add(try UDPSocket.bind(host: host, port: port, on: loop))
        let checks = Checks(socket, changed)
        scope.add(socket.forEachDatagram { bytes, header in checks.take(bytes, from: header) })
        guard let service else { return socket }
        let resolver = try DNSResolver(servers: try nameServers())
        scope.run {
            while true {
                // The resolver keeps an answer for as long as it is valid, so not each round asks a server.
                let peers = resolver.services(of: service, on: loop).flatMap { servers in
                    loop.traverse(servers) {
                        resolver.resolve($0.target, port: $0.port, on: loop).recover { _ in [] }
                    }
                }
                // Without an answer of the DNS, the peers of the last round stay.
                checks.round(of: try? await peers.value.flatMap { $0 })
                try await loop.sleep(for: .seconds(interval)).value
            }
        }
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
