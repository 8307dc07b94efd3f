import ByteStreams
import FoundationEssentials
import Futures
import Testing
import UVFutures

struct DisconnectionTests {
    /// What a client does, or a server's handler, and whether that means no more than that the client has left.
    enum Ending: CaseIterable {
        case reset, resetBeforeWrite, leftInsideMessage, leftInsideCount
        case mistake, tooLong, idle

        var isDisconnection: Bool {
            switch self {
            case .reset, .resetBeforeWrite, .leftInsideMessage, .leftInsideCount: true
            case .mistake, .tooLong, .idle: false
            }
        }
    }

    private struct Mistake: Error {}

    @Test("a peer that simply left is told from a failure", arguments: Ending.allCases, TestNetwork.allCases)
    func told(ending: Ending, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var reported: [any Error] = []
            var limits = StreamLimits()
            if ending == .idle { limits.idleTimeout = .milliseconds(20) }
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop
            ) {
                connection in
                serve(connection, ending)
            }
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: server.localAddress)
            try loop.runUntil { server.activeConnections == 1 }
            leave(client, ending)
            try loop.runUntil { !reported.isEmpty }
            #expect(reported.map(\.isDisconnection) == [ending.isDisconnection], "\(reported)")
            _ = loop.outcome(of: client.close())
            _ = try loop.run(until: server.shutdown(within: .seconds(60)))
        }
    }

    @Test(
        "a peer that leaves between two messages is no failure at all", arguments: [true, false],
        TestNetwork.allCases)
    func betweenMessages(byCount: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var messages = 0
            func serve(_ connection: TCPConnection) -> Future<Void> {
                let read = byCount ? connection.read(exactly: 2) : connection.read(until: Data("\n".utf8))
                return read.flatMap { message in
                    guard message != nil else { return loop.succeeded() }
                    messages += 1
                    return serve(connection)
                }
            }
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, serve)
            server.onConnectionError = { Issue.record("reported: \($0)") }
            let client = try loop.connect(to: server.localAddress)
            client.write("a\nb\n")
            _ = loop.outcome(of: client.close())
            try loop.runUntil { server.statistics.closes == [.closed: 1] }
            #expect(messages == 2)
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    private func serve(_ connection: TCPConnection, _ ending: Ending) -> Future<Void> {
        let loop = connection.loop
        switch ending {
        case .reset, .idle: return connection.readToEnd().asVoid()
        case .resetBeforeWrite:
            func write() -> Future<Void> { connection.write(Data(count: 1 << 16)).flatMap(write) }
            return write()
        case .leftInsideMessage: return connection.read(until: Data("\n".utf8)).asVoid()
        case .leftInsideCount: return connection.read(exactly: 100).asVoid()
        case .mistake: return connection.read().flatMap { _ in loop.failed(Mistake()) }
        case .tooLong: return connection.readLine(limit: 1).asVoid()
        }
    }

    private func leave(_ client: TCPConnection, _ ending: Ending) {
        switch ending {
        case .reset, .resetBeforeWrite: client.abort()
        case .leftInsideMessage, .leftInsideCount:
            client.write("half")
            client.close()
        case .mistake, .tooLong: client.write("too long")
        case .idle: break
        }
    }
}
