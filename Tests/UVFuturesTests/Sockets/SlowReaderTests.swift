import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// Many peers at a time that read late, and send something when all has been answered.
struct SlowReaderTests {
    private static let count = isSoaking ? 1000 : 20
    /// More than a peer's system takes while nobody reads.
    // Not stored: a leak detector does not see into a global `Data`.
    private static var answer: Data { Data(repeating: 7, count: 300_000) }

    @Test(
        "each gets all that it was sent, though it sends one byte more", arguments: [false, true],
        TestNetwork.allCases)
    func complete(draining: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
                draining ? answerAll($0) : answerOnce($0)
            }
            var errors: [any Error] = []
            server.onConnectionError = { errors.append($0) }
            let clients = try Self.ask(server)
            let end = draining ? server.drain(within: .seconds(600)) : nil
            try loop.runUntil {
                draining ? server.statistics.draining == Self.count : server.activeConnections == 0
            }
            // A server that drains has ended them then.
            try loop.run(for: .milliseconds(5))
            for client in clients { client.write("x") }
            try loop.run(for: .milliseconds(10))
            for client in clients { #expect(try loop.run(until: client.readToEnd()) == Self.answer) }
            loop.closeAll(clients)
            // A server that ends counts what still lingers.
            if !draining { try loop.runUntil { server.statistics.lingering == 0 } }
            let summary = try loop.run(until: end ?? server.shutdown(within: .seconds(60)))
            // A server that drains cannot answer that byte any more.
            #expect(summary == ShutdownSummary(cut: draining ? Self.count : 0))
            #expect(server.statistics.closes == [draining ? .cut : .closed: Self.count])
            #expect(errors.map { $0 as? StreamError } == Array(repeating: .drained, count: summary.cut))
        }
    }

    @Test("after a second signal each is reset, and counted as aborted", arguments: TestNetwork.allCases)
    func cutOff(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    connection.forEachChunk { _ in connection.write(Self.answer) }
                }
                server.onConnectionError = { _ in }
                let clients = try Self.ask(server)
                let end = server.drain(on: .terminate, within: .seconds(600))
                network.send(.terminate, to: loop)
                try loop.runUntil { server.statistics.draining == Self.count }
                network.send(.terminate, to: loop)
                #expect(try loop.run(until: end) == ShutdownSummary(aborted: Self.count))
                for client in clients {
                    #expect(loop.failure(of: client.readToEnd())?.isDisconnection == true)
                    _ = loop.outcome(of: client.closed)
                }
            }
        }
    }

    private func answerOnce(_ connection: TCPConnection) -> Future<Void> {
        connection.read().map { _ in connection.write(Self.answer).ignoreFailure() }
    }

    private func answerAll(_ connection: TCPConnection) -> Future<Void> {
        connection.forEachChunk { chunk in
            connection.write(chunk == Data("ask".utf8) ? Self.answer : chunk)
        }
    }

    /// Connects as many clients, asks for an answer by each, and waits until all have left the server's queues.
    private static func ask(_ server: TCPServer) throws -> [TCPConnection] {
        let loop = server.loop
        let clients = try (0..<count).map { _ in try loop.connect(to: server.localAddress) }
        for client in clients { client.write("ask") }
        try loop.runUntil { server.statistics.bytesSent == count * answer.count }
        return clients
    }
}
