import ArgumentParser
import ExampleSupport
import ServerSupport
import TLSStreams
import UVFutures

@main
struct PortForwarder: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Passes each connection on to another server, until SIGINT or SIGTERM.")

    @Argument(help: "Where to pass them on to: HOST:PORT, or unix:PATH, where @ begins an abstract name.")
    var target: Target

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 7008

    @Option(help: "A path to listen at too, or @ and an abstract name.")
    var unix: String?

    @OptionGroup var options: ServerOptions

    @OptionGroup(title: "Encryption of the side that listens") var encryption: ServerEncryption

    @OptionGroup(title: "Encryption of the side of the target") var targetEncryption: TargetEncryption

    func validate() throws {
        do {
            try target.check()
        } catch {
            throw ValidationError("nothing can be passed on to that target: \(error)")
        }
        guard !encryption.isWanted || unix == nil else {
            throw ValidationError("--tls-certificate does not go with --unix")
        }
        try targetEncryption.check(target)
    }

    func run() throws {
        let loop = EventLoop.main
        try loop.run(until: serve(on: loop))
        loop.shutdown()
    }

    /// Passes connections on until a signal comes, and completes when all of them have ended.
    func serve(on loop: EventLoop) throws -> Future<Void> {
        var (connections, bytes, failures) = (0, 0, 0)
        let reports = FailureReports(on: loop)
        let context = try targetEncryption.context(on: loop)
        let scope = FutureScope(on: loop)
        let server = scope.add(
            try StreamServer(on: loop, encryption) { client in
                connections += 1
                return connect(context, on: client.loop).flatMap { upstream in
                    // The scope closes it at the end of both directions. What breaks one side breaks the other.
                    client.scope.add(upstream)
                    return client.pipe(to: upstream).and(upstream.pipe(to: client))
                        .map { bytes += $0 + $1 }
                }
            })
        server.onError { error in
            failures += 1
            guard reports.admits(error) else { return }
            say("a connection broke: \(error). Reported at most once a minute for each reason.")
        }
        let address = try server.listen(host: options.host, port: port)
        let path = try unix.map { try server.listen(path: $0) }
        say("listening on \(address)")
        if let path { say("listening on \(path)") }

        return scope.drain(on: .interrupt, .terminate, within: .seconds(options.grace)).map {
            say("passed on \(bytes) bytes of \(connections) connections, of which \(failures) broke")
        }
    }

    private func connect(_ context: TLSContext?, on loop: EventLoop) -> Future<ByteStream> {
        let connection = target.connect(on: loop)
        guard let context, let name = targetEncryption.name(of: target) else { return connection.map { $0 } }
        return connection.flatMap { $0.startTLS(client: context, host: name) }.map { $0 }
    }
}
