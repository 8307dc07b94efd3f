import FoundationEssentials
import FuturesTesting
import TLSStreams
import TestSupport
import Testing

/// What a draining server does with encrypted connections, those of a server of TLS and those that a handler has upgraded.
struct TLSDrainingTests {
    enum Way: String, CaseIterable, Codable { case tls, upgrade }

    /// A server, the connection that its handler got, and a client that has been answered.
    private func withServed(
        _ way: Way, _ network: TestNetwork, asking: Bool = true,
        _ handler: @escaping (TLSConnection) -> Future<Void>,
        _ body: (TCPServer, _ served: TLSConnection, _ client: TLSConnection) throws -> Void
    ) throws {
        try withLoop(network) { loop in
            var served: TLSConnection?
            let (context, clientContext) = (try loop.server(), try loop.client())
            func serve(_ connection: TLSConnection) -> Future<Void> {
                served = connection
                return handler(connection)
            }
            let server: TCPServer
            let client: TLSConnection
            switch way {
            case .tls:
                server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: context, serve).tcp
                client = try loop.run(
                    until: TLSConnection.connect(
                        host: "127.0.0.1", port: server.localAddress.port, context: clientContext))
            case .upgrade:
                server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                    plain.readLine().flatMap { _ in
                        plain.write("go on\n")
                        return plain.startTLS(server: context).flatMap(serve)
                    }
                }
                let plain = try loop.run(
                    until: TCPConnection.connect(
                        host: "127.0.0.1", port: server.localAddress.port, on: loop))
                plain.write("STARTTLS\n")
                #expect(try loop.run(until: plain.readLine()) == Data("go on".utf8))
                client = try loop.run(until: plain.startTLS(client: clientContext, host: "localhost"))
            }
            if asking {
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
            } else {
                while served == nil { try pass(.milliseconds(1), on: loop) }
            }
            try pass(.milliseconds(2), on: loop)
            try body(server, served!, client)
            served = nil
        }
    }

    private func pass(_ time: Duration, on loop: EventLoop) throws {
        try loop.run(until: loop.sleep(for: time))
    }

    /// What the client sees when it ends, too: no reset, and no end without `close_notify`.
    private func close(_ client: TLSConnection) throws { try client.loop.run(until: client.close()) }

    @Test(
        "who waits for the next message, and for nothing else, is ended at once, with close_notify",
        arguments: Way.allCases.flatMap { way in ServingVerb.waiting.map { (way, $0) } },
        TestNetwork.allCases)
    func idle(row: (way: Way, verb: ServingVerb), network: TestNetwork) throws {
        try withServed(row.way, network, row.verb.serve) { server, _, client in
            let loop = server.loop
            let start = loop.now
            let end = server.drain(within: .seconds(60))
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            #expect(start.duration(to: loop.now) < .seconds(20))
            try close(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test(
        "who waits for anything else is told, and ends by itself",
        arguments: Way.allCases.flatMap { way in ServingVerb.others.map { (way, $0) } },
        TestNetwork.allCases)
    func told(row: (way: Way, verb: ServingVerb), network: TestNetwork) throws {
        try withServed(row.way, network, row.verb.serve) { server, served, client in
            let loop = server.loop
            let isTold = served.draining
            let end = server.drain(within: .seconds(20))
            let isOver = client.readToEnd()
            // Longer than half of the deadline, where that costs nothing.
            try pass(network == .virtual ? .seconds(15) : .milliseconds(20), on: loop)
            if case .success? = isTold.result {} else { Issue.record("nobody was told") }
            #expect(!isOver.isCompleted)
            client.close()
            _ = loop.failure(of: isOver)
            _ = server.shutdown(within: .zero)
            _ = try loop.run(until: end)
        }
    }

    @Test(
        "whoever has written while a read waited is never cut",
        arguments: Way.allCases.flatMap { way in ServingVerb.allCases.map { (way, $0) } },
        TestNetwork.allCases)
    func push(row: (way: Way, verb: ServingVerb), network: TestNetwork) throws {
        try withServed(row.way, network, row.verb.serve) { server, served, client in
            let loop = server.loop
            // That its connection was closed by others.
            served.closed.ignoreFailure()
            server.onConnectionError = { _ in }
            loop.onUnhandledFailure = { _ in }
            func push(_ numbers: Range<Int>) throws {
                for number in numbers {
                    served.write("\(number)\n")
                    try pass(.milliseconds(1), on: loop)
                }
            }
            let all = client.readToEnd()
            try push(0..<3)
            let end = server.drain(within: .seconds(20))
            try push(3..<20)
            if network == .virtual { try pass(.seconds(15), on: loop) }
            served.close()
            #expect(try loop.run(until: all) == Data((0..<20).map { "\($0)\n" }.joined().utf8))
            try close(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test("who is in the middle of a message says so", arguments: Way.allCases, TestNetwork.allCases)
    func middle(way: Way, network: TestNetwork) throws {
        func serve(_ connection: TLSConnection) -> Future<Void> {
            connection.endsWhenIdle = false
            return ServingVerb.lines.serve(connection)
        }
        try withServed(way, network, serve) { server, served, client in
            let loop = server.loop
            let end = server.drain(within: .seconds(60))
            let rest = client.readToEnd()
            try pass(.milliseconds(20), on: loop)
            #expect(!rest.isCompleted)
            served.endsWhenIdle = true
            client.write("rest\n")
            #expect(try loop.run(until: rest) == Data("rest\n".utf8))
            try close(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test("who has asked for nothing has half of the time", arguments: Way.allCases)
    func fresh(way: Way) throws {
        try withServed(way, .virtual, asking: false, ServingVerb.lines.serve) { server, _, client in
            let loop = server.loop
            let start = loop.now
            let end = server.drain(within: .seconds(10))
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            #expect(start.duration(to: loop.now) >= .seconds(5))
            try close(client)
            #expect(start.duration(to: loop.now) < .seconds(6))
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test("a write after the end is reported once, and counts as cut", arguments: Way.allCases)
    func cut(way: Way) throws {
        try withServed(way, .virtual, ServingVerb.forEachChunk.serve) { server, served, client in
            let loop = server.loop
            var reported: [any Error] = []
            loop.onUnhandledFailure = { reported.append($0) }
            let end = server.drain(within: .seconds(5))
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            served.write("push\n")
            #expect(loop.failure(of: served.write("push\n")) as? StreamError == .drained)
            try close(client)
            #expect(try loop.run(until: end) == ShutdownSummary(cut: 1))
            #expect(reported.count == 1 && reported.first as? StreamError == .drained)
        }
    }

    @Test(
        "what a handler has written when it ends reaches the peer, with the end", arguments: Way.allCases,
        TestNetwork.allCases)
    func lastWords(way: Way, network: TestNetwork) throws {
        func serve(_ connection: TLSConnection) -> Future<Void> {
            connection.readLine().map { line in connection.write("hello\nbye\n") }.asVoid()
        }
        try withServed(way, network, serve) { server, _, client in
            let loop = server.loop
            #expect(try loop.run(until: client.readToEnd()) == Data("bye\n".utf8))
            try close(client)
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }

    @Test("a client that has not greeted has half of the time, as any other that has asked for nothing")
    func silent() throws {
        try withLoop { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                $0.forEachChunk { _ in }
            }
            server.onHandshakeFailure = { Issue.record("\($0)") }
            let client = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            loop.advance(by: .milliseconds(100))
            let start = loop.now
            let end = server.drain(within: .seconds(2))
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            let wait = start.duration(to: loop.now)
            #expect(wait >= .seconds(1) && wait < .milliseconds(1100), "\(wait)")
            try loop.run(until: client.close())
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
            #expect(server.handshakes.silent == 0 && server.handshakes.failed.isEmpty)
        }
    }
}
