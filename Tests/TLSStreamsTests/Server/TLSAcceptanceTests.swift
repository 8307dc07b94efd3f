import Foundation
import Glibc
import TLSStreams
import TestSupport
import Testing

@testable import FuturesTesting

struct TLSAcceptanceTests {
    private func listen(
        _ loop: EventLoop, _ handshakes: TLSHandshakeLimits = TLSHandshakeLimits(),
        _ accepting: AcceptLimits = AcceptLimits()
    ) throws -> TLSServer {
        let server = try TLSServer.listen(
            host: "127.0.0.1", port: 0, context: try loop.server(), handshakes: handshakes,
            accepting: accepting
        ) { connection in connection.forEachChunk { connection.write($0) } }
        server.onConnectionError = { Issue.record("\($0)") }
        return server
    }

    private func connect(_ server: TLSServer, _ context: TLSContext) -> Future<TLSConnection> {
        TLSConnection.connect(host: "127.0.0.1", port: server.localAddress.port, context: context)
    }

    private func idle(
        _ count: Int, _ idler: Idler, _ server: TLSServer, behind opening: Data = Data(), _ greeting: Data,
        _ loop: EventLoop
    ) throws -> [TCPConnection] {
        let accepted = server.tcp.statistics.accepted
        let idlers = try loop.run(
            until: Future.all(
                (0..<count).map { _ in
                    idler.connect(
                        to: server.localAddress.port, behind: opening, greeting: greeting, on: loop)
                }))
        while server.tcp.statistics.accepted < accepted + count {
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
        }
        return idlers
    }

    @Test(
        "who has not sent a whole greeting takes no place, and has a time of its own",
        arguments: Idler.allCases, TestNetwork.allCases)
    func idlers(idler: Idler, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var handshakes = TLSHandshakeLimits()
            if network == .virtual { handshakes.maxConcurrent = 30 }
            let count = handshakes.maxConcurrent + 4
            let server = try listen(loop, handshakes)
            var told: [String] = []
            server.onHandshakeFailure = { told.append("\($0)") }
            let context = try loop.client()
            let idlers = try idle(count, idler, server, try greeting(of: context), loop)
            let start = loop.now
            let client = try loop.run(until: connect(server, context))
            let wait = start.duration(to: loop.now)
            #expect(wait < .milliseconds(network == .virtual ? 10 : 4000), "\(wait)")
            if network == .virtual {
                loop.advance(by: .milliseconds(4500))
                #expect(server.handshakes.silent == count && server.activeConnections == count + 1)
                #expect(server.handshakes.underWay == 0)
                loop.advance(by: .milliseconds(600))
                #expect(server.handshakes.silent == 0 && server.activeConnections == 1)
                #expect(server.handshakes.failed == [.noGreeting: count])
                let text =
                    ": the client has not sent its whole greeting within 5.0 seconds; raise "
                    + "TLSHandshakeLimits.greetingTimeout, or look at the client"
                #expect(told.count == 1 && told[0].hasPrefix("TLS with TCPConnection"), "\(told)")
                #expect(told.first?.hasSuffix(text) == true)
            }
            for end in idlers { end.abort() }
            client.abort()
            server.onConnectionError = { _ in }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("what is no greeting takes no place for longer than it takes to tell what it is")
    func noGreetings() throws {
        try withLoop { loop in
            var handshakes = TLSHandshakeLimits()
            handshakes.maxConcurrent = 1
            let server = try listen(loop, handshakes)
            func fail(_ bytes: [UInt8]) throws {
                let client = try loop.run(
                    until: TCPConnection.connect(
                        host: "127.0.0.1", port: server.localAddress.port, on: loop))
                client.write(bytes)
                loop.advance(by: .seconds(1))
                #expect(server.handshakes.underWay == 0 && server.handshakes.silent == 0, "\(bytes)")
                client.abort()
            }
            try fail(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            try fail(Array("SSH-2.0-x\r\n".utf8))
            try fail([21, 3, 1, 0, 2, 1, 0])
            try fail([20, 3, 1, 0, 1, 1])
            try fail([22, 3, 1, 0, 4, 2, 0, 0, 0])
            try fail([22, 3, 1, 0, 8, 1, 2, 1, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 70_000))
            try fail(Array(repeating: [22, 3, 1, 0, 0], count: 14_000).flatMap { $0 })
            #expect(server.handshakes.failed.values.reduce(0, +) == 7, "\(server.handshakes)")
            #expect(server.handshakes.failed[.protocolViolation, default: 0] >= 2, "\(server.handshakes)")
            let client = try loop.run(until: connect(server, try loop.client()))
            client.abort()
            server.onConnectionError = { _ in }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("a client that leaves without a greeting has cut its handshake", arguments: TestNetwork.allCases)
    func leaver(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(loop)
            let told = loop.makePromise(of: String.self)
            server.onHandshakeFailure = { told.succeed("\($0)") }
            let client = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            try loop.run(until: client.close())
            let text = try loop.run(until: told.future)
            let end = ": the peer has closed the connection during the handshake; look at its log"
            #expect(text.hasSuffix(end), "\(text)")
            #expect(server.handshakes.failed == [.handshakeCut: 1] && server.handshakes.silent == 0)
            _ = try loop.run(until: server.drain(within: .seconds(5)))
        }
    }

    @Test("a greeting that comes slowly, but in time, leads to a connection", arguments: TestNetwork.allCases)
    func slowGreeting(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(loop)
            // A relay that holds back the second half of the greeting.
            let relay = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { near in
                TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop)
                    .flatMap { far in
                        let greeted = near.read().flatMap { bytes in
                            far.write(bytes.prefix(bytes.count / 2))
                            return loop.sleep(for: .milliseconds(50)).flatMap {
                                far.write(bytes.suffix(bytes.count - bytes.count / 2))
                            }
                        }
                        return greeted.flatMap { near.pipe(to: far) }.and(far.pipe(to: near))
                            .tapResult { _ in far.close() }.map { _ in }
                    }
            }
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: relay.localAddress.port, context: try loop.client()))
            client.write("hello\n")
            #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
            try loop.run(until: client.close())
            _ = try loop.run(until: relay.shutdown(within: .seconds(5)))
            _ = try loop.run(until: server.drain(within: .seconds(5)))
        }
    }

    @Test(
        "a full server lets a client in at once, and ends the one that has not greeted for longest",
        // Real time passes on the system.
        arguments: Idler.allCases.map { ($0, TestNetwork.virtual) } + [(.silent, .system)], [false, true])
    func makesRoom(who: (idler: Idler, network: TestNetwork), isProxied: Bool) throws {
        let (idler, network) = who
        try withLoop(network) { loop in
            let server = try listen(loop, TLSHandshakeLimits(), AcceptLimits(maxConnections: 3))
            server.onHandshakeFailure = { Issue.record("\($0)") }
            let context = try loop.client()
            var opening = Data()
            if isProxied {
                server.tcp.proxyProtocol = ProxyProtocol()
                opening = try ProxyHeader(
                    source: SocketAddress(host: "192.0.2.7", port: 51234), destination: server.localAddress
                ).bytes(.v2)
            }
            let greeting = try greeting(of: context)
            let idlers = try idle(3, idler, server, behind: opening, greeting, loop)
            try loop.run(until: loop.sleep(for: .milliseconds(300)))
            var clients: [TLSConnection] = []
            for number in 1...3 {
                let start = loop.now
                let tcp = try loop.run(
                    until: TCPConnection.connect(
                        host: "127.0.0.1", port: server.localAddress.port, on: loop))
                tcp.write(opening)
                let client = try loop.run(until: tcp.startTLS(client: context, host: "localhost"))
                let wait = start.duration(to: loop.now)
                #expect(wait < .milliseconds(network == .virtual ? 10 : 4000), "\(wait)")
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
                clients.append(client)
                #expect(server.tcp.statistics.closes == [.madeRoom: number])
                #expect(server.activeConnections == 3)
            }
            #expect(server.handshakes.failed.isEmpty && server.handshakes.otherwiseFailed == 0)
            #expect(server.handshakes.silent == 0 && server.handshakes.completed == 3)
            for end in clients + idlers { end.abort() }
            server.onConnectionError = { _ in }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "behind a handshake, the first message is awaited if peers speak first", arguments: [false, true],
        TestNetwork.allCases)
    func firstMessage(speakFirst: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(
                loop, TLSHandshakeLimits(), AcceptLimits(maxConnections: 2, peersSpeakFirst: speakFirst))
            var errors: [any Error] = []
            let context = try loop.client()
            let speaker = try loop.run(until: connect(server, context))
            speaker.write("hello\n")
            _ = try loop.run(until: speaker.readLine())
            let silent = try loop.run(until: connect(server, context))
            try loop.run(until: loop.sleep(for: .milliseconds(300)))
            let late = connect(server, context)
            server.onConnectionError = { errors.append($0) }
            if speakFirst {
                let late = try loop.run(until: late)
                #expect(server.tcp.statistics.closes == [.madeRoom: 1])
                #expect(loop.failure(of: silent.read()) != nil)
                #expect(errors.isEmpty)
                late.abort()
            } else {
                try loop.run(until: loop.sleep(for: .milliseconds(600)))
                #expect(server.tcp.statistics.closes.isEmpty && server.tcp.statistics.accepted == 2)
                late.cancel()
            }
            speaker.write("again\n")
            #expect(try loop.run(until: speaker.readLine()) == Data("again".utf8))
            server.onConnectionError = { _ in }
            for end in [speaker, silent] { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "a server ends with silent ones under way, and tells nobody of them", arguments: Idler.allCases,
        [false, true])
    func ends(idler: Idler, drains: Bool) throws {
        try withLoop { loop in
            let server = try listen(loop)
            server.onHandshakeFailure = { Issue.record("\($0)") }
            let context = try loop.client()
            let idlers = try idle(20, idler, server, try greeting(of: context), loop)
            let start = loop.now
            let ended = drains ? server.drain(within: .seconds(2)) : server.shutdown(within: .zero)
            let summary = try loop.run(until: ended)
            #expect(summary.aborted == 20, "\(summary)")
            #expect(start.duration(to: loop.now) < .seconds(drains ? 3 : 1))
            #expect(server.handshakes.silent == 0 && server.handshakes.failed.isEmpty)
            for end in idlers { end.abort() }
        }
    }

    @Test("the slowest hundredth of handshakes is quick beside those who are silent, and those who drip")
    func soak() throws {
        raiseDescriptorLimit()
        try withLoop(.system) { loop in
            let server = try listen(loop)
            server.onHandshakeFailure = { _ in }
            server.onConnectionError = { _ in }
            let context = try loop.client()
            func slowest(of count: Int) throws -> Duration {
                let waits = try (0..<count).map { _ in
                    let start = loop.now
                    let client = try loop.run(until: connect(server, context))
                    client.abort()
                    return start.duration(to: loop.now)
                }
                return waits.sorted()[count * 99 / 100]
            }
            let count = isSoaking ? 1000 : 50
            let alone = try slowest(of: count)
            let each = isSoaking ? 2000 : 150
            let crowd = Crowd(of: each, at: server.localAddress.port, greeting: try greeting(of: context))
            while server.handshakes.silent < 2 * each {
                try loop.run(until: loop.sleep(for: .milliseconds(10)))
            }
            let beside = try slowest(of: count)
            if isSoaking { print("p99 of a handshake: \(alone) alone, \(beside) beside \(2 * each)") }
            #expect(beside < .seconds(2), "\(alone) alone")
            crowd.leave()
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }
}

private func raiseDescriptorLimit() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
