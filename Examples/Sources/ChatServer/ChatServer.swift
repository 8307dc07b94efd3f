import ArgumentParser
import Chat
import ExampleSupport
import ServerSupport
import TLSStreams
import UVFutures

/// A chat of rooms, for people at a terminal and for a page. Several processes share their rooms through Redis.
///
/// It shows: one hall behind two protocols, members that are cut off when they do not read, a log whose messages are there
/// once though they are sent again, and a daemon that runs in a simulated world as it is.
@main
struct ChatServer: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Serves a chat: lines over TCP, and a page with a WebSocket, until SIGINT or SIGTERM.",
        discussion: """
            To try it, type lines into one of
              nc 127.0.0.1 7700
            and look at the page in a browser:
              http://127.0.0.1:7780/
            /help tells the commands. With --redis, a message is acknowledged when Redis has it on its disk (appendonly yes,
            appendfsync always). Examples/chat.sh starts Redis, several processes, and HAProxy before them.
            """)

    @OptionGroup var options: ServerOptions

    @Option(parsing: .unconditional, help: "The port for lines; 0 picks a free one.")
    var port = 7700

    @Option(parsing: .unconditional, help: "The port for the page and its WebSocket; 0 picks a free one.")
    var webPort = 7780

    @Option(
        help: ArgumentHelp(
            "The Redis that keeps the rooms, and that other processes share; without it they are in memory.",
            valueName: "host:port"))
    var redis: HostAndPort?

    @Option(help: "What the names of the streams in Redis begin with.")
    var redisKey = "chat"

    @Flag(help: "All connections come by a proxy, and begin with a header of the PROXY protocol.")
    var proxy = false

    @Option(parsing: .unconditional, help: "How many messages a new member of a room gets.")
    var history = 100

    @Option(
        parsing: .unconditional,
        help: "How many bytes may wait for a member that does not read. With more, it is cut off.")
    var memberBuffer = 262_144

    @Option(
        parsing: .unconditional,
        help: "How many lines of a member are looked at in a second, after ten seconds' worth at once.")
    var pace = 50

    @Option(
        help: ArgumentHelp(
            "A site whose pages may open the WebSocket, besides those of the same host. May be given several times.",
            valueName: "https://host"))
    var origin: [String] = []

    @Option(
        parsing: .unconditional,
        help: "How many connections each port may have open; others wait, or take the place of a silent one.")
    var maxConnections: Int?

    @OptionGroup var encryption: ServerEncryption

    func validate() throws {
        guard (1...10_000).contains(history) else {
            throw ValidationError("a history of \(history) messages makes no sense; give 1 to 10000")
        }
        guard (4096...1 << 30).contains(memberBuffer) else {
            throw ValidationError("a buffer of \(memberBuffer) bytes makes no sense; give 4096 to \(1 << 30)")
        }
        guard (1...1_000_000).contains(pace) else {
            throw ValidationError("a pace of \(pace) lines makes no sense; give 1 to 1000000")
        }
        guard !redisKey.isEmpty else { throw ValidationError("--redis-key is empty; give a word") }
        if let redis { try TCPConnection.checkTarget(host: redis.host, port: redis.port) }
    }

    func run() throws {
        let loop = EventLoop.main
        let (hall, redisLog) = try openHall(on: loop)
        let scope = FutureScope(on: loop)
        let lines = try listen(port, in: scope) { connection, address in
            // A proxy that speaks for itself looks whether this process is there, and is no member.
            if connection.socket?.proxyHeader?.isLocal == true { return loop.succeeded() }
            return hall.serveLines(connection, from: address)
        }
        let web = try listen(webPort, in: scope) { hall.serveWeb($0, from: $1, origins: origin) }
        scope.draining.whenSuccess { hall.close() }
        say("listening on \(lines.localAddresses[0])")
        say("look at \(encryption.isWanted ? "https" : "http")://\(web.localAddresses[0])/")
        try loop.run(until: scope.drain(on: .interrupt, .terminate, within: .seconds(options.grace)))
        if let redisLog { try loop.run(until: redisLog.drain(within: .seconds(options.grace))) }
        loop.shutdown()
        say(
            "acknowledged \(hall.counts.acknowledged) messages, passed on \(hall.counts.delivered), "
                + "dropped \(hall.counts.dropped) that came twice, cut off \(hall.counts.cutOff) members")
        say("after the signal \(lines.shutdownSummary); of the page: \(web.shutdownSummary)")
    }

    /// Makes the hall, and reads what was said before.
    private func openHall(on loop: EventLoop) throws -> (Hall, RedisLog?) {
        var settings = Hall.Settings()
        (settings.historyLength, settings.memberBuffer, settings.pace) = (history, memberBuffer, pace)
        guard let redis else {
            let hall = Hall(MemoryLog(on: loop).log, settings, on: loop)
            try loop.run(until: hall.open())
            return (hall, nil)
        }
        let log = try RedisLog(
            host: redis.host, port: redis.port, key: redisKey, horizon: settings.horizon, on: loop)
        let hall = Hall(log.log, settings, on: loop)
        do { try loop.run(until: hall.open()) } catch {
            throw Refusal("the rooms cannot be read from Redis at \(redis): \(error)")
        }
        return (hall, log)
    }

    private func listen(
        _ port: Int, in scope: FutureScope,
        _ serve: @escaping (any ClientConnection, SocketAddress?) -> Future<Void>
    ) throws -> StreamServer {
        var limits = StreamLimits()
        limits.writeCap = memberBuffer + 1_048_576
        // A history waits for who reads it, before it fills the buffer.
        limits.writeHighWaterMark = min(limits.writeHighWaterMark, memberBuffer / 2)
        limits.writeLowWaterMark = min(limits.writeLowWaterMark, memberBuffer / 4)
        let server = try StreamServer(on: scope.loop, encryption, limits: limits) {
            [loop = scope.loop] connection in
            guard let client = connection as? any ClientConnection else { return loop.succeeded() }
            // Whoever is gone without a word is found out in the silence of a room, too.
            try client.socket?.setKeepAlive(after: .seconds(60))
            return serve(client, client.peerAddress)
        }
        // Members leave as they like.
        server.onError { _ in }
        if proxy { server.acceptProxyProtocol(ProxyProtocol()) }
        try server.setAcceptLimits(AcceptLimits(maxConnections: maxConnections, peersSpeakFirst: true))
        try server.listen(host: options.host, port: port)
        return scope.add(server)
    }
}

/// A connection of a client, with or without TLS.
protocol ClientConnection: ByteStream {
    var peerAddress: SocketAddress? { get }
    var socket: TCPConnection? { get }
}

extension SocketConnection: ClientConnection {
    var socket: TCPConnection? { self as? TCPConnection }
}

extension TLSConnection: ClientConnection {
    var socket: TCPConnection? { underlying as? TCPConnection }
}
