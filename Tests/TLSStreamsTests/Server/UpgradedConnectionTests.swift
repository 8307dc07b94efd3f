import Foundation
import TLSStreams
import Testing
import UVFutures

/// A handler that encrypts its connection and holds the encrypted one no longer than it runs.
struct UpgradedConnectionTests {
    enum Handler: CaseIterable {
        case write, awaitedWrite, callback, onlyRead, owning

        var writes: Bool { self != .onlyRead }
    }

    private func listen(
        _ handler: Handler, _ context: TLSContext, on loop: EventLoop
    ) throws -> TCPServer {
        switch handler {
        case .write:
            try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                let tls = try await plain.startTLS(server: context).value
                tls.write("hello\n")
            }
        case .awaitedWrite:
            try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                try await plain.startTLS(server: context).value.write("hello\n").value
            }
        case .callback:
            try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                plain.startTLS(server: context).flatMap { $0.write("hello\n") }
            }
        case .onlyRead:
            try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                _ = try await plain.startTLS(server: context).value.readLine().value
            }
        case .owning:
            try TCPServer.listen(
                host: "127.0.0.1", port: 0, on: loop,
                owning: { plain in
                    plain.startTLS(server: context).whenSuccess { tls in
                        tls.write("hello\n").whenSuccess { [weak tls] in tls?.close() }
                    }
                })
        }
    }

    @Test(
        "the server sends the last bytes of a connection that its handler has encrypted, and ends it in order",
        arguments: Handler.allCases, TestNetwork.allCases)
    func ends(handler: Handler, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(handler, loop.server(), on: loop)
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, context: loop.client()))
            if handler == .onlyRead { client.write("a line\n") }
            let bytes = try loop.run(until: client.readToEnd())
            #expect(bytes == Data((handler.writes ? "hello\n" : "").utf8))
            try loop.run(until: client.close())
            let summary = try loop.run(until: server.drain(within: .seconds(10)))
            #expect(summary.aborted == 0 && summary.failed == 0)
        }
    }

    @Test(
        "a client that resets a connection that its handler has encrypted leaves nothing",
        arguments: TestNetwork.allCases)
    func reset(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(.onlyRead, loop.server(), on: loop)
            var errors: [any Error] = []
            server.onConnectionError = { errors.append($0) }
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, context: loop.client()))
            client.write("no line")
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            client.abort()
            while errors.isEmpty { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            #expect(server.activeConnections == 0)
            _ = try loop.run(until: server.drain(within: .seconds(1)))
        }
    }
}
