import ArgumentParser
import ExampleSupport
import ServerSupport
import TLSStreams
import UVFutures

@main
struct EchoServer: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends back whatever it is sent, until SIGINT or SIGTERM.")

    @OptionGroup var options: ServerOptions

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 7007

    @Option(help: "A path to listen at too, or @ and an abstract name.")
    var unix: String?

    @Flag(help: "Send back datagrams of UDP too, on the same address and port.")
    var udp = false

    @Flag(help: "Listen on the sockets that systemd passes, instead of at --host and --port.")
    var systemd = false

    @Option(parsing: .unconditional, help: "How many connections may wait to be accepted.")
    var backlog = 1024

    @Flag(help: "Share the port with other servers that do so too: the system spreads the connections.")
    var sharePort = false

    @Option(
        parsing: .unconditional,
        help: "How many connections each loop may have; others wait, or take the place of a silent one.")
    var maxConnections: Int?

    /// Each client speaks first: without a word, there is nothing to send back.
    var acceptLimits: AcceptLimits { AcceptLimits(maxConnections: maxConnections, peersSpeakFirst: true) }

    @OptionGroup var limits: TimeLimits

    @OptionGroup var encryption: ServerEncryption

    @Option(parsing: .unconditional, help: "How many loops serve; several have a thread each.")
    var loops = 1

    @Flag(help: "Send back lines, each when it is complete.")
    var lines = false

    @Flag(help: "Say at SIGUSR1, too, how much CPU time the longest turn has taken since the last time.")
    var measureTurns = false

    func validate() throws {
        guard loops == 1 || unix == nil && !udp && !systemd && !measureTurns else {
            throw ValidationError("--loops goes with neither --unix, --udp, --systemd nor --measure-turns")
        }
        guard !udp || !systemd else { throw ValidationError("--udp does not go with --systemd") }
        guard !encryption.isWanted || loops == 1 && unix == nil && !udp else {
            throw ValidationError("--tls-certificate goes with neither --loops, --unix nor --udp")
        }
    }

    func run() throws {
        let loop = EventLoop.main
        let counts = Counts()
        let (addresses, ended) = try loops == 1 ? serve(on: loop, counts) : serveOnThreads(counts, on: loop)

        let address = addresses[0]
        let reachable = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        for address in addresses { say("listening on \(address)") }
        if encryption.isWanted {
            say("try it, and type a line: openssl s_client -quiet -connect \(reachable):\(address.port)")
        } else if let path = address.path {
            say("try it: printf 'hello\\n' | nc -NU \(path)")
        } else {
            say("try it: \(byBash("tcp", reachable, address.port))")
        }
        if udp { say("or: \(byBash("udp", reachable, address.port))") }
        try tellSystemd(address, on: loop)

        let summary = try loop.run(until: ended)
        loop.shutdown()
        say(
            "echoed \(counts.bytes) bytes to \(counts.connections) connections, of which \(counts.failures) broke"
        )
        say("after the signal \(summary)")
    }

    /// Sends back what comes, and counts it.
    func echo(_ connection: ByteStream, _ counts: Counts) throws -> Future<Void> {
        counts.connected()
        try limits.apply(to: connection)
        if lines { return echoLines(of: connection) }
        return connection.forEachChunk { chunk in connection.write(chunk) }
    }

    private func tellSystemd(_ address: SocketAddress, on loop: EventLoop) throws {
        try Systemd.notify(.ready, .status("listening on \(address)"))
        try Systemd.feedWatchdog(on: loop)
        Future.race([loop.signal(.interrupt), loop.signal(.terminate)]).whenSuccess {
            _ = try? Systemd.notify(.stopping)
        }
    }
}

/// A client that is there wherever bash is.
private func byBash(_ network: String, _ host: String, _ port: Int) -> String {
    "bash -c 'exec 3<>/dev/\(network)/\(host)/\(port); echo hello >&3; head -n 1 <&3'"
}
