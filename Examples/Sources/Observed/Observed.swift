import Logging
import Metrics
import UVFutures

/// An echo server that logs each connection, and counts what its loop does. To see it, it is its own client; a real one
/// would bootstrap another metrics backend, and run until a signal comes.
@main
enum Observed {
    static func main() throws {
        let metrics = PrintableMetrics()
        MetricsSystem.bootstrap(metrics)
        let loop = EventLoop.main
        loop.observe(logger: Logger(label: "echo"))

        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        let address = server.localAddress
        let client = try loop.run(
            until: TCPConnection.connect(host: address.host, port: address.port, on: loop))
        client.write("hello\n")
        _ = try loop.run(until: client.readLine())
        client.close()
        _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        loop.shutdown()
        print(metrics.lines.joined(separator: "\n"))
    }
}
