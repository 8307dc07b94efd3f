import Glibc
import Logging
import ServiceLifecycle
import UVFutures

/// Echo on as many loops as it is told to, as one service among others.
struct EchoService: Service {
    let port: Int
    let loops: Int
    let grace: Duration

    /// Runs until the supervisor wants it to end, and drains; if the task is cancelled, without any grace.
    func run() async throws {
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: port, loops: loops) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        print("listening on \(group.localAddress)")
        fflush(nil)
        let wasAsked: Void? = try? await gracefulShutdown()
        let summary = try await group.drain(within: wasAsked == nil ? .zero : grace)
        print(summary)
        fflush(nil)
    }
}

/// A service that others need, and that ends after them.
struct Heartbeat: Service {
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        logger.info("last beat")
    }
}

/// usage: Supervised [--port PORT]
@main
struct Supervised {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let port = arguments.isEmpty ? 7007 : arguments.last.flatMap({ Int($0) }) else {
            print("usage: Supervised [--port PORT]")
            exit(64)
        }
        let logger = Logger(label: "supervised")
        let echo = EchoService(port: port, loops: 2, grace: .seconds(10))
        let services = ServiceGroup(
            services: [Heartbeat(logger: logger), echo], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        try await services.run()
    }
}
