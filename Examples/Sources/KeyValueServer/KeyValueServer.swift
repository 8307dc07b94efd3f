import ArgumentParser
import CMalloc
import ExampleSupport
import ServerSupport
import TLSStreams
import UVFutures

@main
struct KeyValueServer: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Keeps keys and values in memory, and speaks the protocol of Redis, until SIGINT or SIGTERM.",
        discussion: """
            Strings, counters, expiry, SCAN, and PUBLISH to those who SUBSCRIBE. To try it:
              redis-cli -p 7379 set greeting hello
              redis-benchmark -p 7379 -t get,set -P 16
            """)

    @OptionGroup var options: ServerOptions

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 7379

    @Option(
        help: "The file that keeps all changes, from which everything is loaded at start; none unless given.")
    var appendFile: String?

    @Option(
        help: ArgumentHelp(
            "When changes are on the disk: before they are answered (always), within a second (everysec), or when the "
                + "system likes (no).", valueName: "policy"))
    var sync = AppendLog.Policy.everysec

    @Option(
        parsing: .unconditional,
        help: "The size in bytes from which the file is written anew, whenever it has doubled.")
    var rewriteSize = 67_108_864

    @Option(
        parsing: .unconditional,
        help:
            """
            The bytes of memory that may be taken: a quarter by what clients have under way, and the rest by keys and values, \
            from where on commands that need memory are refused; no limit unless given.
            """
    )
    var memoryLimit: Int?

    @Option(
        parsing: .unconditional,
        help: "How many connections may be open at a time; others wait, or take the place of a silent one.")
    var maxConnections: Int?

    @Option(
        parsing: .unconditional,
        help: "After how many seconds without a byte a connection is closed; never unless given.")
    var idleTimeout: Double?

    @OptionGroup var encryption: ServerEncryption

    func validate() throws {
        guard memoryLimit ?? .max >= 1_000_000 else {
            throw ValidationError(
                "a memory limit of \(memoryLimit!) bytes makes no sense; give a million or more")
        }
        guard rewriteSize > 0 else {
            throw ValidationError("a rewrite size of \(rewriteSize) bytes makes no sense; give one or more")
        }
        try checkTimeLimits(("an idle timeout", idleTimeout))
    }

    /// A server that listens, and what it serves.
    typealias Serving = (server: StreamServer, service: KeyValueService)

    /// Loads what there is, and listens then.
    func start(on loop: EventLoop, say: @escaping (String) -> Void = { _ in }) -> Future<Serving> {
        let service = KeyValueService(memoryLimit: memoryLimit, on: loop)
        let loaded =
            appendFile.map { path in
                service.openLog(at: path, sync, rewriteSize: rewriteSize).map { say($0) }
            } ?? loop.succeeded()
        return loaded.map { [self] in
            let server = try StreamServer(on: loop, encryption, limits: streamLimits) { service.serve($0) }
            // Clients leave as they like.
            server.onError { _ in }
            try server.setAcceptLimits(AcceptLimits(maxConnections: maxConnections, peersSpeakFirst: true))
            try server.listen(host: options.host, port: port)
            return (server, service)
        }
    }

    private var streamLimits: StreamLimits {
        var limits = StreamLimits()
        limits.idleTimeout = idleTimeout.map { .seconds($0) }
        return limits
    }

    func run() throws {
        // Left to itself, the allocator keeps more of the large blocks that are free than the limit is.
        if memoryLimit != nil { mallopt(M_MMAP_THRESHOLD, 128 << 10) }
        let loop = EventLoop.main
        let (server, service) = try loop.run(until: start(on: loop) { say($0) })
        say("listening on \(server.localAddresses[0])")
        let scope = FutureScope(on: loop)
        scope.add(server)
        try loop.run(until: scope.drain(on: .interrupt, .terminate, within: .seconds(options.grace)))
        if let log = service.log { try loop.run(until: log.close()) }
        loop.shutdown()
        say("after the signal \(server.shutdownSummary)")
    }
}

extension AppendLog.Policy: ExpressibleByArgument {}
