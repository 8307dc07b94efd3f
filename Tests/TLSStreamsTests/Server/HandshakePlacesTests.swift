import FoundationEssentials
import FuturesTesting
import TLSStreams
import Testing

/// Peers that greet, and then leave the server waiting in the middle of the handshake.
struct HandshakePlacesTests {
    /// What a peer sends behind its greeting.
    enum Staller: String, CaseIterable, Codable {
        case nothing, nothingOfTLS12, halfRecord, dripping

        func connect(to server: TLSServer) throws -> TCPConnection {
            let loop = server.loop
            var configuration = TLSClientConfiguration.usual
            if self == .nothingOfTLS12 { configuration.parameters.versions = .tls12 ... .tls12 }
            let greeting = try greeting(of: loop.client(configuration))
            let connection = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            connection.write(greeting)
            connection.forEachChunk { _ in }.ignoreFailure()
            // The beginning of a record of 16 KiB.
            if self == .halfRecord { connection.write(Data([23, 3, 3, 64, 0, 1])) }
            if self == .dripping { drip([23, 3, 3, 64, 0], connection) }
            return connection
        }

        private func drip(_ bytes: ArraySlice<UInt8>, _ connection: TCPConnection) {
            connection.write(Data([bytes.first ?? 1])).ignoreFailure()
            let pause = connection.loop.sleep(for: .milliseconds(20))
            pause.whenSuccess { drip(bytes.dropFirst(), connection) }
            connection.closed.whenComplete { _ in pause.cancel() }
        }
    }

    /// The places that are all taken.
    enum Places: String, CaseIterable, Codable {
        case handshakes, connections

        func listen(
            _ count: Int, _ loop: EventLoop, _ configuration: TLSServerConfiguration = .usual,
            atATime: Int = 256
        ) throws -> TLSServer {
            var handshakes = TLSHandshakeLimits()
            handshakes.maxConcurrent = atATime
            var accepting = AcceptLimits()
            if self == .handshakes {
                handshakes.maxConcurrent = count
            } else {
                accepting.maxConnections = count
            }
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(configuration), handshakes: handshakes,
                accepting: accepting
            ) { connection in connection.forEachChunk { connection.write($0) } }
            server.onHandshakeFailure = { Issue.record("\($0)") }
            server.onConnectionError = { Issue.record("\($0)") }
            return server
        }
    }

    private func connect(_ server: TLSServer, _ context: TLSContext) -> Future<TLSConnection> {
        TLSConnection.connect(host: "127.0.0.1", port: server.localAddress.port, context: context)
            .flatMap { client in
                client.write("hello\n")
                return client.readLine().map { line in
                    #expect(line == Data("hello".utf8))
                    return client
                }
            }
    }

    private func stall(
        _ count: Int, _ staller: Staller, _ server: TLSServer
    ) throws -> [TCPConnection] {
        let stalled = try (0..<count).map { _ in try staller.connect(to: server) }
        while server.handshakes.underWay < count {
            try server.loop.run(until: server.loop.sleep(for: .milliseconds(1)))
        }
        return stalled
    }

    private func end(_ server: TLSServer, _ ends: [ByteStream]) throws {
        server.onConnectionError = { _ in }
        server.onHandshakeFailure = { _ in }
        for end in ends { end.abort() }
        _ = try server.loop.run(until: server.shutdown(within: .zero))
    }

    @Test(
        "when all places are taken, a client is let in at once, and the peer that has owed most makes room",
        arguments: Places.allCases,
        // Real time passes on the system.
        Staller.allCases.map { ($0, TestNetwork.virtual) } + [(.nothing, .system)])
    func makesRoom(places: Places, who: (staller: Staller, network: TestNetwork)) throws {
        let network = who.network
        try withLoop(network) { loop in
            let server = try places.listen(3, loop)
            let context = try loop.client()
            let stalled = try stall(3, who.staller, server)
            try loop.run(until: loop.sleep(for: .milliseconds(300)))
            var clients: [TLSConnection] = []
            for number in 1...3 {
                let start = loop.now
                clients.append(try loop.run(until: connect(server, context)))
                let wait = start.duration(to: loop.now)
                #expect(wait < .milliseconds(network == .virtual ? 10 : 4000), "\(wait)")
                // A client that has a connection takes no place of a handshake.
                let ended = places == .handshakes ? 1 : number
                #expect(server.tcp.statistics.closes == [.madeRoom: ended])
            }
            #expect(server.handshakes.failed.isEmpty && server.handshakes.otherwiseFailed == 0)
            try end(server, clients + stalled)
        }
    }

    @Test(
        "a peer has a quarter of a second in any case, and the next one waits for that",
        arguments: Places.allCases)
    func patience(places: Places) throws {
        try withLoop { loop in
            let server = try places.listen(2, loop)
            let context = try loop.client()
            let start = loop.now
            let stalled = try stall(2, .nothing, server)
            let client = try loop.run(until: connect(server, context))
            let wait = start.duration(to: loop.now)
            #expect(wait >= .milliseconds(250) && wait < .milliseconds(300), "\(wait)")
            #expect(server.tcp.statistics.closes == [.madeRoom: 1])
            try end(server, stalled + [client])
        }
    }

    @Test(
        "a peer that owes its first answer only after others have come makes room, too",
        arguments: Places.allCases)
    func owesLate(places: Places) throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in
                loop.sleep(for: .seconds(1)).map { _ in nil as TLSContext? }
            }
            let server = try places.listen(1, loop, configuration)
            let context = try loop.client()
            let start = loop.now
            let stalled = try stall(1, .nothing, server)
            let client = try loop.run(until: connect(server, context))
            let wait = start.duration(to: loop.now)
            // A second of the server for each of them, and the patience with the first.
            #expect(wait >= .milliseconds(2250) && wait < .milliseconds(2300), "\(wait)")
            #expect(server.tcp.statistics.closes == [.madeRoom: 1])
            try end(server, stalled + [client])
        }
    }

    @Test("a client that gets no place within the time of a handshake is told of as one that took too long")
    func noPlace() throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in
                loop.sleep(for: .seconds(9)).map { _ in nil as TLSContext? }
            }
            let server = try Places.handshakes.listen(1, loop, configuration)
            server.onHandshakeFailure = { _ in }
            let context = try loop.client()
            let clients = (0..<3).map { _ in connect(server, context) }
            let first = try loop.run(until: clients[0])
            #expect(server.handshakes.underWay == 1 && server.handshakes.failed.isEmpty)
            loop.advance(by: .seconds(2))
            #expect(server.handshakes.failed == [.handshakeTimedOut: 2], "\(server.handshakes)")
            #expect(clients[1...].allSatisfy { loop.failure(of: $0) != nil })
            try end(server, [first])
        }
    }

    @Test("without pressure, a peer has the whole time of a handshake")
    func noPressure() throws {
        try withLoop { loop in
            let server = try Places.handshakes.listen(3, loop)
            var told: [String] = []
            server.onHandshakeFailure = { told.append("\($0)") }
            let stalled = try stall(3, .nothing, server)
            loop.advance(by: .milliseconds(9900))
            #expect(server.handshakes.underWay == 3 && told.isEmpty)
            loop.advance(by: .milliseconds(200))
            #expect(server.handshakes.failed == [.handshakeTimedOut: 3] && told.count == 1)
            try end(server, stalled)
        }
    }

    @Test(
        "a client makes no room while the server itself is slow, or while it waits for its turn",
        arguments: Places.allCases)
    func ownWaits(places: Places) throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in
                loop.sleep(for: .seconds(1)).map { _ in nil as TLSContext? }
            }
            let server = try places.listen(2, loop, configuration, atATime: 1)
            let context = try loop.client()
            let first = (0..<2).map { _ in connect(server, context) }
            let others = (0..<4).map { _ in connect(server, context) }
            var clients = try loop.run(until: Future.all(first))
            if places == .handshakes {
                clients += try loop.run(until: Future.all(others))
            } else {
                try loop.run(until: loop.sleep(for: .milliseconds(600)))
                for other in others { other.cancel() }
            }
            #expect(server.tcp.statistics.closes[.madeRoom] == nil, "\(server.tcp.statistics)")
            try end(server, clients)
        }
    }

    @Test(
        "clients that come all at once wait for each other, and none is ended", arguments: Places.allCases)
    func burst(places: Places) throws {
        try withLoop { loop in
            let server = try places.listen(4, loop)
            let context = try loop.client()
            let answers = (0..<40).map { _ in connect(server, context).flatMap { $0.close() } }
            try loop.run(until: Future.all(answers).asVoid())
            #expect(server.handshakes.completed == 40)
            #expect(server.tcp.statistics.closes[.madeRoom] == nil)
            try end(server, [])
        }
    }
}
