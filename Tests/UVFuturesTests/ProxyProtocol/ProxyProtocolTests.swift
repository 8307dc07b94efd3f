import ByteStreams
import FoundationEssentials
import Testing
import UVFutures

struct ProxyProtocolTests {
    /// Gives `body` a server that expects headers, and what its connections have said about themselves.
    private func withServer(
        _ network: TestNetwork, _ rules: ProxyProtocol = ProxyProtocol(),
        _ body: (TCPServer, Seen, EventLoop) throws -> Void
    ) throws {
        try withLoop(network) { loop in
            let seen = Seen()
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                seen.connections.append(connection)
                return echo(connection)
            }
            server.proxyProtocol = rules
            server.onConnectionError = { seen.errors.append($0) }
            try body(server, seen, loop)
            seen.connections = []
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    private final class Seen {
        var connections: [TCPConnection] = []
        var errors: [any Error] = []
    }

    @Test(
        "the handler sees the client, and not a byte of the header", arguments: TestNetwork.allCases,
        ProxyHeader.Version.allCases)
    func client(network: TestNetwork, version: ProxyHeader.Version) throws {
        try withServer(network) { server, seen, loop in
            let proxy = try loop.connect(to: server.localAddress)
            let header = try ProxyHeader(source: clientAddress, destination: frontAddress)
            proxy.write(try header.bytes(version))
            proxy.write("hello\n")
            #expect(try loop.run(until: proxy.readLine()) == Data("hello".utf8))
            let connection = try #require(seen.connections.first)
            #expect(connection.peerAddress == clientAddress && connection.proxyHeader == header)
            #expect(connection.directPeerAddress == proxy.localAddress)
            #expect(connection.localAddress == server.localAddress)
            #expect("\(connection)".hasSuffix("(\(server.localAddress) – 192.0.2.7:51234)"))
            #expect(proxy.proxyHeader == nil && proxy.peerAddress == proxy.directPeerAddress)
            loop.closeAll(proxy)
            #expect(seen.errors.isEmpty)
        }
    }

    @Test(
        "a proxy that speaks for itself has its own address", arguments: TestNetwork.allCases,
        ProxyHeader.Version.allCases)
    func local(network: TestNetwork, version: ProxyHeader.Version) throws {
        try withServer(network) { server, seen, loop in
            let proxy = try loop.connect(to: server.localAddress)
            proxy.write(try ProxyHeader.local.bytes(version))
            proxy.write("hello\n")
            #expect(try loop.run(until: proxy.readLine()) == Data("hello".utf8))
            #expect(seen.connections[0].peerAddress == proxy.localAddress)
            #expect(seen.connections[0].proxyHeader?.isLocal == (version == .v2))
            loop.closeAll(proxy)
        }
    }

    @Test(
        "addresses of a client of datagrams are not those of a connection, which keeps its own",
        arguments: TestNetwork.allCases, [0x12, 0x22, 0x32] as [UInt8])
    func datagrams(network: TestNetwork, kind: UInt8) throws {
        try withServer(network) { server, seen, loop in
            let proxy = try loop.connect(to: server.localAddress)
            let size = [12, 36, 216][Int(kind >> 4) - 1]
            proxy.write(ProxyBytes.v2([UInt8](repeating: 1, count: size), kind: kind))
            proxy.write("hello\n")
            #expect(try loop.run(until: proxy.readLine()) == Data("hello".utf8))
            #expect(seen.connections[0].peerAddress == proxy.localAddress)
            #expect(seen.connections[0].proxyHeader?.isDatagram == true)
            #expect("\(seen.connections[0])".hasSuffix("– \(proxy.localAddress!))"))
            loop.closeAll(proxy)
        }
    }

    @Test(
        "a connection without a header never reaches the handler, and is reset",
        arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withServer(network) { server, seen, loop in
            let client = try loop.connect(to: server.localAddress)
            client.write("GET / HTTP/1.1\r\n\r\n")
            try loop.runUntil { !seen.errors.isEmpty }
            #expect(seen.errors.first as? ProxyProtocolError == .missing(byte: 0))
            #expect(
                "\(seen.errors[0])"
                    == "the connection does not begin with a PROXY header: its byte 0 is wrong; let the proxy send one, for "
                    + "example by send-proxy-v2, or leave proxyProtocol unset")
            let cut = try loop.connect(to: server.localAddress)
            cut.write("PROXY TC")
            cut.shutdownWrite()
            try loop.runUntil { seen.errors.count == 2 }
            #expect(seen.errors[1] as? ProxyProtocolError == .incomplete(received: 8))
            #expect(seen.errors[1].isDisconnection && !seen.errors[0].isDisconnection)
            #expect(seen.connections.isEmpty)
            try loop.runUntil { server.activeConnections == 0 }
            client.abort()
            cut.abort()
        }
    }

    @Test("a health check that connects and closes is no error", arguments: TestNetwork.allCases)
    func emptyConnection(network: TestNetwork) throws {
        try withServer(network) { server, seen, loop in
            let check = try loop.connect(to: server.localAddress)
            try loop.run(until: check.close())
            try loop.runUntil { server.statistics.accepted == 1 && server.activeConnections == 0 }
            #expect(seen.errors.isEmpty && seen.connections.isEmpty)
        }
    }

    @Test("the header has to come in time", arguments: TestNetwork.allCases)
    func timeLimit(network: TestNetwork) throws {
        var rules = ProxyProtocol()
        rules.timeout = .milliseconds(50)
        try withServer(network, rules) { server, seen, loop in
            let client = try loop.connect(to: server.localAddress)
            client.write("PROXY ")
            try loop.runUntil { !seen.errors.isEmpty }
            #expect(seen.errors[0] as? ProxyProtocolError == .timedOut(after: .milliseconds(50)))
            #expect(seen.connections.isEmpty)
            client.abort()
        }
    }

    @Test("a peer that is not trusted is reset before its header is read", arguments: TestNetwork.allCases)
    func trust(network: TestNetwork) throws {
        var rules = ProxyProtocol()
        rules.isTrusted = { $0?.host != "127.0.0.1" }
        try withServer(network, rules) { server, seen, loop in
            // The reset may come before the client knows that it is connected.
            let client = Peer(network, port: server.localAddress.port, on: loop)
            _ = client.send(Array(try ProxyHeader.local.bytes(.v2)))
            try loop.runUntil { !seen.errors.isEmpty }
            guard case .untrusted(let peer?)? = seen.errors[0] as? ProxyProtocolError else {
                Issue.record("\(seen.errors)")
                return
            }
            #expect(peer.host == "127.0.0.1" && seen.connections.isEmpty)
            try loop.runUntil { client.receive() == [] }
        }
    }

    @Test(
        "a server that drains waits for the header, and serves the connection",
        arguments: TestNetwork.allCases)
    func drains(network: TestNetwork) throws {
        try withServer(network) { server, seen, loop in
            let proxy = try loop.connect(to: server.localAddress)
            try loop.runUntil { server.activeConnections == 1 }
            let drained = server.drain(within: .seconds(60))
            proxy.write(try ProxyHeader(source: clientAddress, destination: frontAddress).bytes(.v2))
            proxy.write("hello\n")
            #expect(try loop.run(until: proxy.readLine()) == Data("hello".utf8))
            #expect(try loop.run(until: proxy.read()).isEmpty)
            loop.closeAll(proxy)
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 1, aborted: 0))
        }
    }

    @Test("without values of your own, all are trusted to send a header of 4 KiB within 5 seconds")
    func defaults() throws {
        #expect(ProxyProtocol().maximumSize == 4096)
        try withServer(.virtual) { server, seen, loop in
            let client = try loop.connect(to: server.localAddress)
            let start = loop.now
            try loop.runUntil { !seen.errors.isEmpty }
            #expect(seen.errors[0] as? ProxyProtocolError == .timedOut(after: .seconds(5)))
            #expect(start.duration(to: loop.now) >= .milliseconds(4999))
            client.abort()
        }
    }

    @Test("a limit may be the size of the shortest header", arguments: TestNetwork.allCases)
    func smallest(network: TestNetwork) throws {
        var rules = ProxyProtocol()
        rules.maximumSize = 16
        try withServer(network, rules) { server, seen, loop in
            let proxy = try loop.connect(to: server.localAddress)
            proxy.write(try ProxyHeader.local.bytes(.v2))
            proxy.write("hello\n")
            #expect(try loop.run(until: proxy.readLine()) == Data("hello".utf8))
            loop.closeAll(proxy)
        }
    }

    @Test(
        "values out of range trap with a sentence",
        arguments: [
            "timeout must be positive, not 0.0 seconds",
            "maximumSize must be at least 16, not 15",
        ])
    func misuse(sentence: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [sentence] in
            let server = TCPServer(on: try EventLoop()) { echo($0) }
            var rules = ProxyProtocol()
            if sentence.contains("timeout") { rules.timeout = .zero } else { rules.maximumSize = 15 }
            server.proxyProtocol = rules
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("SocketServer.proxyProtocol was given values out of range: \(sentence)"))
    }
}
