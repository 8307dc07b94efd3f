import ExampleSupport
import Logging
import ServiceLifecycle
import Tracing
import UVFutures

/// Counts the letters of lines, on as many loops as it is told to.
struct LetterService: Service {
    let port: Int
    let loops: Int
    let grace: Duration
    let echo: EchoService

    /// Serves until the group of services wants it to end, and drains; if the task is cancelled, without any grace.
    func run() async throws {
        let address = try await echo.address
        let requests = Logger(label: "request")
        let group = try TCPServerGroup.listen(
            host: "127.0.0.1", port: port, loops: loops,
            awaiting: { connection in
                var count = 0
                for try await line in connection.lines() {
                    count += 1
                    let id = "\(connection.peerAddress?.port ?? 0)-\(count)"
                    let letters = Request.letters(
                        of: line.text, id: id, address, on: connection.loop, requests)
                    connection.write("\(try await letters.value)\n")
                }
            })
        _ = try await group.onEach { server in
            server.loop.carries(InstrumentationContext.$current)
            server.loop.observe(logger: Logger(label: "loop"))
        }
        say("listening on \(group.localAddress)")
        let wasAsked: Void? = try? await gracefulShutdown()
        let summary = try await group.drain(within: wasAsked == nil ? .zero : grace)
        say("after the signal \(summary)")
    }
}

/// Sends lines back, for the other service.
final class EchoService: Service {
    private let opened = AsyncStream.makeStream(of: SocketAddress.self)

    /// The address at which it listens, as soon as it does.
    var address: SocketAddress {
        get async throws {
            for await address in opened.stream { return address }
            throw CancellationError()
        }
    }

    func run() async throws {
        defer { opened.continuation.finish() }
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        opened.continuation.yield(group.localAddress)
        try? await gracefulShutdown()
        _ = try await group.drain(within: .zero)
    }
}
