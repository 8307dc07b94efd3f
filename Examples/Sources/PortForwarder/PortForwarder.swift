import ArgumentParser
import Glibc
import UVFutures

@main
struct PortForwarder: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Passes each connection on to another server, until SIGINT or SIGTERM.")

    @Argument(help: "Where to pass them on to: HOST:PORT, or unix:PATH, where @ begins an abstract name.")
    var target: Target

    @Option(help: "The address to listen on: a numeric one, or localhost.")
    var host = "127.0.0.1"

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 7008

    @Option(help: "A path to listen at too, or @ and an abstract name.")
    var unix: String?

    @Option(parsing: .unconditional, help: "How many seconds open connections have to finish after a signal.")
    var grace = 5.0

    func validate() throws {
        do {
            try target.check()
        } catch {
            throw ValidationError("nothing can be passed on to that target: \(error)")
        }
    }

    func run() throws {
        let loop = EventLoop.main
        try loop.run(until: serve(on: loop))
        loop.shutdown()
    }

    /// Passes connections on until a signal comes, and completes when all of them have ended.
    func serve(on loop: EventLoop) throws -> Future<Void> {
        var (connections, bytes, failures) = (0, 0, 0)
        let server = SocketServer<SocketConnection>(on: loop) { client in
            connections += 1
            return target.connect(on: client.loop).flatMap { upstream in
                forward(client, upstream).map { bytes += $0 }
            }
        }
        server.onConnectionError = { error in
            failures += 1
            say("a connection broke: \(error)")
        }
        let address = try server.listen(host: host, port: port)
        let path = try unix.map { try server.listen(path: $0) }
        say("listening on \(address)")
        if let path { say("listening on \(path)") }

        let signal = Future.race([loop.signal(.interrupt), loop.signal(.terminate)])
        return signal.flatMap { server.shutdown(within: .seconds(grace)) }.map { _ in
            say("passed on \(bytes) bytes of \(connections) connections, of which \(failures) broke")
        }
    }
}

/// Each side gets what the other sends, and its end. What breaks one side breaks the other.
func forward(_ client: SocketConnection, _ upstream: SocketConnection) -> Future<Int> {
    client.pipe(to: upstream).and(upstream.pipe(to: client))
        .tapResult { result in
            if case .success = result { upstream.close() } else { upstream.abort() }
        }
        .map { sent, received in sent + received }
}

/// Another server.
enum Target: ExpressibleByArgument {
    case tcp(host: String, port: Int)
    case unix(path: String)

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            self = .unix(path: String(argument.dropFirst(5)))
            return
        }
        guard let colon = argument.lastIndex(of: ":"),
            let port = Int(argument[argument.index(after: colon)...])
        else { return nil }
        let host = argument[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        self = .tcp(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
    }

    /// Throws if nobody can ever listen there.
    func check() throws {
        switch self {
        case .tcp(let host, let port): try TCPConnection.checkTarget(host: host, port: port)
        case .unix(let path): _ = try SocketAddress(path: path)
        }
    }

    func connect(on loop: EventLoop) -> Future<SocketConnection> {
        switch self {
        case .tcp(let host, let port):
            TCPConnection.connect(host: host, port: port, on: loop).map { $0 }
        case .unix(let path):
            UnixConnection.connect(path: path, on: loop).map { $0 }
        }
    }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
