import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SilenceTests {
    /// What a server waits for before it keeps a place for a connection.
    enum Awaited: String, CaseIterable, Codable {
        case header, message

        /// What a client sends that is waited for.
        var opening: Data {
            get throws {
                self == .message
                    ? Data() : try ProxyHeader(source: clientAddress, destination: frontAddress).bytes(.v1)
            }
        }
    }

    /// What those do who never get so far.
    enum Idler: String, CaseIterable, Codable {
        case silent, dripping, half

        func begin(_ connection: TCPConnection, with bytes: Data) {
            switch self {
            case .silent: break
            case .dripping: drip(bytes, connection)
            case .half: connection.write(bytes.prefix(bytes.count / 2))
            }
        }

        private func drip(_ bytes: Data, _ connection: TCPConnection) {
            connection.write(bytes.prefix(1)).ignoreFailure()
            let pause = connection.loop.sleep(for: .milliseconds(20))
            pause.whenSuccess { if bytes.count > 2 { drip(bytes.dropFirst(), connection) } }
            connection.closed.whenComplete { _ in pause.cancel() }
        }
    }

    /// A server that sends back lines, and keeps places for those who speak.
    private func listen(
        _ awaited: Awaited, _ limits: AcceptLimits, on loop: EventLoop
    ) throws -> TCPServer {
        var limits = limits
        limits.peersSpeakFirst = awaited == .message
        let server = try TCPServer.listen(
            host: "127.0.0.1", port: 0, accepting: limits, on: loop
        ) { connection in
            for try await line in connection.lines() { connection.write(line + Data("\n".utf8)) }
        }
        if awaited == .header { server.proxyProtocol = ProxyProtocol() }
        server.onConnectionError = { Issue.record("\($0)") }
        return server
    }

    /// Connects idlers one after the other, and waits until they have been silent for long enough to make room.
    private func idle(
        _ count: Int, _ idler: Idler, _ awaited: Awaited, _ server: TCPServer, on loop: EventLoop
    ) throws -> [TCPConnection] {
        let before = server.statistics.accepted
        let idlers = try (1...count).map { number in
            let connection = try loop.connect(to: server.localAddress)
            let line = Data(repeating: UInt8(ascii: "x"), count: 10_000)
            idler.begin(connection, with: awaited == .message ? line : try awaited.opening)
            try loop.runUntil { server.statistics.accepted == before + number }
            return connection
        }
        try loop.run(for: .milliseconds(300))
        return idlers
    }

    private func greet(_ awaited: Awaited, _ server: TCPServer, on loop: EventLoop) throws -> TCPConnection {
        let client = try loop.connect(to: server.localAddress)
        client.write(try awaited.opening)
        client.write("hello\n")
        let answer = client.readLine().timeout(after: .seconds(30))
        #expect(try loop.run(until: answer) == Data("hello".utf8))
        return client
    }

    @Test(
        "a full server lets a client in at once, and ends the one that has not spoken for longest",
        arguments: Awaited.allCases,
        // Real time passes on the system.
        Idler.allCases.map { ($0, TestNetwork.virtual) } + [(.silent, .system)])
    func makesRoom(awaited: Awaited, who: (idler: Idler, network: TestNetwork)) throws {
        let network = who.network
        try withLoop(network) { loop in
            let server = try listen(awaited, AcceptLimits(maxConnections: 3), on: loop)
            let told = Told(by: loop)
            let idlers = try idle(3, who.idler, awaited, server, on: loop)
            var clients: [TCPConnection] = []
            for number in 1...3 {
                let start = loop.now
                clients.append(try greet(awaited, server, on: loop))
                let wait = start.duration(to: loop.now)
                #expect(wait < .milliseconds(network == .virtual ? 10 : 5000))
                let error = loop.failure(ofEnd: idlers[number - 1]) as? SystemError
                #expect(error?.code == .connectionReset || error?.code == .brokenPipe)
                #expect(server.statistics.closes == [.madeRoom: number])
                // The server is full in the beginning, and again when nobody is silent any more.
                #expect(server.activeConnections == 3 && server.statistics.pauses == (number < 3 ? 1 : 2))
            }
            let warning =
                ") was reset to make room for another connection, since its peer had not completed its first message. "
                + "Reported at most once a minute; statistics count these connections as madeRoom."
            #expect(told.warnings.count == 2 && told.warnings[0].hasPrefix("a server has 3 connections open"))
            #expect(told.warnings.last?.hasSuffix(warning) == true, "\(told.warnings)")

            // Those who have spoken keep their places, and others wait.
            let late = try loop.connect(to: server.localAddress)
            try loop.run(for: .milliseconds(600))
            #expect(server.statistics.accepted == 6 && server.statistics.closes == [.madeRoom: 3])
            server.onConnectionError = { _ in }
            for end in clients + [late] { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("a silent peer has a quarter of a second in any case, and the next one waits for that")
    func patience() throws {
        try withLoop(.virtual) { loop in
            let server = try listen(.message, AcceptLimits(maxConnections: 2), on: loop)
            let start = loop.now
            let idlers = try (0..<2).map { _ in try loop.connect(to: server.localAddress) }
            loop.advance(by: .milliseconds(100))
            let client = try greet(.message, server, on: loop)
            let wait = start.duration(to: loop.now)
            #expect(wait >= .milliseconds(250) && wait < .milliseconds(260), "\(wait)")
            #expect(server.statistics.closes == [.madeRoom: 1] && server.statistics.pauses == 1)
            server.onConnectionError = { _ in }
            for end in idlers + [client] { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("a server that is closed looks for no silent peer any more")
    func closed() throws {
        try withLoop(.virtual) { loop in
            let server = try listen(.message, AcceptLimits(maxConnections: 1), on: loop)
            let ends = try (0..<2).map { _ in try loop.connect(to: server.localAddress) }
            try loop.runUntil { server.statistics.pauses == 1 }
            let timers = loop.statistics.timers
            try loop.run(until: server.close())
            #expect(loop.statistics.timers == timers - 1)
            for end in ends { end.abort() }
            server.onConnectionError = { _ in }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "clients that come all at once wait for each other, and none is ended",
        arguments: TestNetwork.allCases)
    func burst(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(.message, AcceptLimits(maxConnections: 4), on: loop)
            let answers = (0..<40).map { _ in
                TCPConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, on: loop
                )
                .flatMap { client in
                    client.write("hello\n")
                    return client.readLine().always { client.close() }
                }
            }
            #expect(try loop.run(until: Future.all(answers)).allSatisfy { $0 == Data("hello".utf8) })
            try loop.runUntil { server.activeConnections == 0 }
            #expect(server.statistics.closes[.madeRoom] == nil)
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "what came while the loop was held up counts: a peer that has spoken makes no room",
        arguments: TestNetwork.allCases)
    func heldUp(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(.message, AcceptLimits(maxConnections: 1), on: loop)
            let client = Peer(network, port: server.localAddress.port, on: loop)
            try loop.runUntil { server.activeConnections == 1 }
            let late = Peer(network, port: server.localAddress.port, on: loop)
            #expect(client.send(Array("hello\n".utf8)) && late.send(Array("hello\n".utf8)))
            network.holdUp(loop, for: .milliseconds(300))
            try loop.runUntil { client.receive() == Array("hello\n".utf8) }
            #expect(server.statistics.closes.isEmpty)
            withExtendedLifetime(late) {}
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("a server does not end a silent peer unless peers speak first", arguments: TestNetwork.allCases)
    func serverSpeaksFirst(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, accepting: AcceptLimits(maxConnections: 1), on: loop, echo)
            let silent = try loop.connect(to: server.localAddress)
            try loop.runUntil { server.activeConnections == 1 }
            let late = try loop.connect(to: server.localAddress)
            try loop.run(for: .milliseconds(600))
            #expect(server.statistics.closes.isEmpty && server.statistics.accepted == 1)
            #expect(server.statistics.pauses == 1)
            server.onConnectionError = { _ in }
            for end in [silent, late] { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "behind a header, the first message of the client is awaited if peers speak first",
        arguments: [false, true], TestNetwork.allCases)
    func behindHeader(speakFirst: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(.header, AcceptLimits(maxConnections: 1), on: loop)
            try server.setAcceptLimits(AcceptLimits(maxConnections: 1, peersSpeakFirst: speakFirst))
            let silent = try loop.connect(to: server.localAddress)
            silent.write(try Awaited.header.opening)
            try loop.runUntil { server.activeConnections == 1 }
            try loop.run(for: .milliseconds(300))
            let late = try loop.connect(to: server.localAddress)
            late.write(try Awaited.header.opening)
            late.write("hello\n")
            if speakFirst {
                let answer = late.readLine().timeout(after: .seconds(30))
                #expect(try loop.run(until: answer) == Data("hello".utf8))
                #expect(server.statistics.closes == [.madeRoom: 1])
            } else {
                try loop.runUntil { server.statistics.pauses == 1 }
                try loop.run(for: .milliseconds(600))
                #expect(server.statistics.closes.isEmpty && server.activeConnections == 1)
            }
            server.onConnectionError = { _ in }
            for end in [silent, late] { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("the oldest makes room, whoever has left and has spoken meanwhile", arguments: TestNetwork.allCases)
    func order(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(.message, AcceptLimits(maxConnections: 60), on: loop)
            server.onConnectionError = { _ in }
            var idlers = try idle(60, .silent, .message, server, on: loop)
            for (index, idler) in idlers.enumerated() where index % 4 > 0 { idler.abort() }
            try loop.runUntil { server.activeConnections == 15 }
            idlers = idlers.enumerated().filter { $0.offset % 4 == 0 }.map(\.element)
            for idler in idlers[2..<13] {
                idler.write("hello\n")
                _ = try loop.run(until: idler.readLine())
            }
            idlers += try idle(45, .silent, .message, server, on: loop)
            var clients: [TCPConnection] = []
            for index in [0, 1, 13, 14, 15, 16] {
                #expect(idlers[index].isOpen)
                clients.append(try greet(.message, server, on: loop))
                #expect(loop.failure(ofEnd: idlers[index]) != nil, "\(index)")
            }
            #expect(server.statistics.closes[.madeRoom] == 6 && server.activeConnections == 60)
            for end in clients + idlers { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "a server without descriptors ends the oldest silent peers, too", arguments: TestNetwork.allCases)
    func shortage(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            let crowd = Crowd(network, clients: 100, limit: 64)
            try withLoop(network) { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { echo($0) }
                server.onShortage = { _ in }
                server.onConnectionError = { Issue.record("\($0)") }
                server.proxyProtocol = ProxyProtocol()
                crowd.connect(to: server.localAddress.port, on: loop)
                try loop.runUntil { server.statistics.accepted == 100 }
                #expect(server.statistics.shortages > 0)
                #expect(server.statistics.closes[.madeRoom, default: 0] > 10, "\(server.statistics)")
                crowd.leave()
                _ = try loop.run(until: server.shutdown(within: .zero))
                try loop.run()
            }
        }
    }

    @Test(
        "a draining server serves those who wait for the places of silent ones, and then ends these",
        arguments: Awaited.allCases, TestNetwork.allCases)
    func drain(awaited: Awaited, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(awaited, AcceptLimits(maxConnections: 2), on: loop)
            let idlers = try idle(2, .silent, awaited, server, on: loop)
            let client = Peer(network, port: server.localAddress.port, on: loop)
            #expect(client.send(Array(try awaited.opening + Data("hello\n".utf8))))
            var drained: Future<ShutdownSummary>?
            network.whenInBacklog(on: loop) { drained = server.drain(within: .seconds(1)) }
            try loop.runUntil { client.receive() == Array("hello\n".utf8) }
            let summary = try loop.run(until: try #require(drained))
            #expect(summary.finished + summary.aborted + summary.failed == 3, "\(summary)")
            #expect(server.statistics.closes[.madeRoom] == 1, "\(server.statistics)")
            for idler in idlers { idler.abort() }
        }
    }

    @Test(
        "the limit of the first message begins anew behind a header, which is none of the client's",
        arguments: TestNetwork.allCases)
    func handshakeLimit(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.handshakeTimeout = .milliseconds(100)
            var errors: [any Error] = []
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop, echo)
            server.proxyProtocol = ProxyProtocol()
            server.onConnectionError = { errors.append($0) }
            let silent = try loop.connect(to: server.localAddress)
            silent.write(try Awaited.header.opening)
            try loop.runUntil { !errors.isEmpty }
            guard case .timedOut(.handshake, _, _, _)? = errors[0] as? StreamError else {
                Issue.record("\(errors)")
                return
            }
            #expect(server.statistics.closes == [.timedOut(.handshake): 1])
            silent.abort()
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }
}
