import ArgumentParser
import ExampleSupport
import HTTP1
import ServerSupport
import TLSStreams

/// A web server: pages and files, streams of events, WebSockets, and a page that shows how its own loop is.
///
/// It shows: messages that are decoded where they lie, one write for all answers of a turn, back-pressure from the client to
/// the disk, limits of everything, and an end that loses no answer.
@main
struct WebServer: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves HTTP/1.1 and WebSockets, until SIGINT or SIGTERM.",
        discussion: """
            /            how the server is, as charts that move
            /hello       a short text
            /bytes/N     N bytes
            /echo        sends a body back as it comes, and the messages of a WebSocket
            /events      what the charts show, as server-sent events
            /metrics     the same for Prometheus
            /files/...   the files below --root
            """)

    @Option(help: "The address to listen on: a numeric one, or localhost.")
    var host = "127.0.0.1"

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 8080

    @Option(help: "The directory below which /files/ leads, and which no path can leave.")
    var root: String?

    @Option(
        parsing: .unconditional,
        help: "How many connections may be open at a time; others wait, or take the place of a silent one.")
    var maxConnections: Int?

    @OptionGroup var limits: MessageLimits

    @OptionGroup var encryption: ServerEncryption

    @Option(
        parsing: .unconditional,
        help: "How many seconds open connections have to finish after a signal. A second signal means now.")
    var grace = 5.0

    func validate() throws {
        guard (0...86_400).contains(grace) else {
            throw ValidationError("a grace of \(grace) seconds makes no sense; give 0 to 86400")
        }
    }

    func run() throws {
        let loop = EventLoop.main
        let root = try self.root.map { try loop.run(until: Directory.open($0, on: loop)) }
        let site = Site(root: root, limits: limits.http, on: loop)
        let (server, ended) = try serve(site, on: loop)
        site.server = server
        let scheme = encryption.isWanted ? "https" : "http"
        say("listening on \(server.localAddress)")
        say("look at \(scheme)://\(server.localAddress)/")
        let summary = try loop.run(until: ended)
        loop.shutdown()
        say("answered \(site.counts.requests) requests on \(server.statistics.accepted) connections")
        say("after the signal \(summary)")
    }

    /// Listens, and drains when a signal comes.
    private func serve(_ site: Site, on loop: EventLoop) throws -> (TCPServer, Future<ShutdownSummary>) {
        let accepting = AcceptLimits(maxConnections: maxConnections, peersSpeakFirst: true)
        let server: TCPServer
        if let context = try encryption.context(on: loop) {
            let tls = try TLSServer.listen(
                host: host, port: port, context: context, limits: limits.stream, accepting: accepting
            ) { connection in site.serve(connection) }
            context.reloadAtHangup()
            tls.onConnectionError = { _ in site.counts.failures += 1 }
            tls.onHandshakeFailure = { _ in site.counts.failures += 1 }
            server = tls.tcp
        } else {
            server = try TCPServer.listen(
                host: host, port: port, limits: limits.stream, accepting: accepting, on: loop
            ) { connection in site.serve(connection) }
            server.onConnectionError = { _ in site.counts.failures += 1 }
        }
        // The drain waits for answers, and a WebSocket has no last one.
        Future.race([loop.signal(.interrupt), loop.signal(.terminate)]).whenSuccess { site.goAway() }
        return (server, server.drain(on: .interrupt, .terminate, within: .seconds(grace)))
    }
}
