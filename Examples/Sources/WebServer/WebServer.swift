import ArgumentParser
import ExampleSupport
import HTTP1
import ServerSupport
import TLSStreams
import UVFutures

/// A web server: pages and files, streams of events, WebSockets, and a page that shows how its own loop is.
///
/// It shows: messages that are decoded where they lie, one write for all answers of a turn, back-pressure from the client to
/// the disk, limits of everything, and an end that loses no answer.
@main
struct WebServer: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves HTTP/1.1 and WebSockets, until SIGINT or SIGTERM.",
        discussion: """
            /            how the server is, as charts that move, and what waits on its loop
            /hello       a short text
            /bytes/N     N bytes
            /echo        sends a body back as it comes, and the messages of a WebSocket
            /events      what the charts show, as server-sent events
            /metrics     the same for Prometheus
            /files/...   the files below --root
            """)

    @OptionGroup var options: ServerOptions

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

    func run() throws {
        let loop = EventLoop.main
        let root = try self.root.map { try loop.run(until: Directory.open($0, on: loop)) }
        let site = Site(root: root, limits: limits.http, on: loop)
        let scope = FutureScope(on: loop)
        let server = scope.add(
            try StreamServer(on: loop, encryption, limits: limits.stream) { site.serve($0) })
        // Clients leave as they like.
        server.onError { _ in }
        try server.setAcceptLimits(AcceptLimits(maxConnections: maxConnections, peersSpeakFirst: true))
        let address = try server.listen(host: options.host, port: port)
        site.server = server
        // The drain waits for answers, and a WebSocket has no last one.
        scope.draining.whenSuccess { site.goAway() }
        let ended = scope.drain(on: .interrupt, .terminate, within: .seconds(options.grace))
        say("listening on \(address)")
        say("look at \(encryption.isWanted ? "https" : "http")://\(address)/")
        try loop.run(until: ended)
        loop.shutdown()
        say("answered \(site.counts.requests) requests on \(server.statistics.accepted) connections")
        say("after the signal \(server.shutdownSummary)")
    }
}
