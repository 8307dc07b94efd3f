import Foundation
import TLSStreams
import Testing

@testable import FuturesTesting

struct TLSServerTests {
    private func connect(
        _ server: TLSServer, _ loop: EventLoop, _ context: TLSContext? = nil
    ) throws -> Future<TLSConnection> {
        TLSConnection.connect(
            host: "127.0.0.1", port: server.localAddress.port, context: try context ?? loop.client())
    }

    @Test("each kind of handler serves", arguments: TestNetwork.allCases)
    func handlers(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let context = try loop.server()
            var owned: [TLSConnection] = []
            let servers = [
                try TLSServer.listen(host: "127.0.0.1", port: 0, context: context) { connection in
                    connection.forEachSpan { connection.write($0) }
                },
                try TLSServer.listen(host: "127.0.0.1", port: 0, context: context) { connection in
                    for try await line in connection.lines() { connection.write(line + Data("\n".utf8)) }
                },
                try TLSServer.listen(
                    host: "127.0.0.1", port: 0, context: context,
                    owning: { connection in
                        owned.append(connection)
                        connection.write("hello\n")
                    }),
            ]
            for server in servers {
                let client = try loop.run(until: try connect(server, loop))
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
                for connection in owned { connection.close() }
                try loop.run(until: client.close())
                let summary = try loop.run(until: server.drain(within: .seconds(5)))
                #expect(summary.aborted == 0 && summary.failed == 0, "\(summary)")
                #expect(server.shutdownSummary == summary)
                let address = server.localAddress
                #expect("\(server)" == "TLS server of TCPConnection at \(address) with 0 connections")
                #expect(server.handshakes.completed == 1 && server.handshakes.underWay == 0)
            }
            owned = []
        }
    }

    @Test("a socket that is added to a server has that server's limits, or none of its own")
    func limits() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            limits.idleTimeout = .seconds(9)
            let server = try TLSServer(context: try loop.server(), limits: limits) { $0.closed }
            for options in [ListenOptions(backlog: 9), ListenOptions(limits: limits)] {
                try server.listen(host: "127.0.0.1", port: 0, options: options)
            }
            limits.idleTimeout = .seconds(8)
            let error = #expect(throws: FutureError.self) {
                try server.listen(host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits))
            }
            #expect(
                "\(error!)".contains(
                    "have the limits that were given to its initializer; leave limits out of the options"))
            #expect(server.tcp.localAddresses.count == 2)
            try loop.run(until: server.close())
        }
    }

    @Test("a PROXY header comes before the handshake, and tells the client", arguments: TestNetwork.allCases)
    func proxied(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var seen: [SocketAddress?] = []
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in
                seen.append(connection.peerAddress)
                return connection.forEachSpan { connection.write($0) }
            }
            server.tcp.proxyProtocol = ProxyProtocol()
            let address = try SocketAddress(host: "192.0.2.7", port: 51234)
            let tcp = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            tcp.write(try ProxyHeader(source: address, destination: server.localAddress).bytes(.v2))
            let client = try loop.run(until: tcp.startTLS(client: try loop.client(), host: "127.0.0.1"))
            client.write("hello\n")
            #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
            #expect(seen == [address])
            try loop.run(until: client.close())
            _ = try loop.run(until: server.drain(within: .seconds(5)))
        }
    }

    @Test("a server that is made first listens at several sockets, and at one that systemd has opened")
    func sockets() throws {
        try withLoop(.system) { loop in
            let server = try TLSServer(context: try loop.server()) { connection in
                connection.forEachSpan { connection.write($0) }
            }
            let opened = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let ports = [
                try server.listen(host: "127.0.0.1", port: 0).port,
                try server.listen(on: ActivatedSocket(descriptor: try opened.release(), name: "tls")).port,
            ]
            #expect(server.tcp.localAddresses.map(\.port) == ports && Set(ports).count == 2)
            for port in ports {
                let client = try loop.run(
                    until: TLSConnection.connect(host: "127.0.0.1", port: port, context: try loop.client()))
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
                try loop.run(until: client.close())
            }
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
            #expect(
                complaint { _ = try TLSServer(context: try loop.client()) { $0.forEachChunk { _ in } } }
                    == "a TLSServer was given the context of a client; give one made by TLSContext.server")
        }
    }

    @Test("failed handshakes are counted, and told of once a minute for each reason")
    func failures() throws {
        try withLoop { loop in
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(), owning: { $0.abort() })
            var told: [TLSError.Reason?] = []
            server.onHandshakeFailure = { told.append(reason($0)) }
            func speak(_ text: String) throws {
                let client = try loop.run(
                    until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
                client.write(text)
                _ = loop.failure(of: client.readToEnd())
                try loop.run(until: client.close())
            }
            for _ in 0..<3 {
                try speak("GET / HTTP/1.1\r\n\r\n")
                try speak("SSH-2.0-x\r\n")
            }
            #expect(server.handshakes.failed == [.plainHTTP: 3, .notTLS: 3])
            #expect(told == [.plainHTTP, .notTLS])
            loop.advance(by: .seconds(60))
            try speak("GET / HTTP/1.1\r\n\r\n")
            #expect(told == [.plainHTTP, .notTLS, .plainHTTP])
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }

    @Test("a few handshakes are under way at a time, the others wait, and have their time limit")
    func concurrency() throws {
        try withLoop { loop in
            var handshakes = TLSHandshakeLimits()
            handshakes.maxConcurrent = 2
            handshakes.timeout = .seconds(4)
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(), handshakes: handshakes
            ) { $0.forEachChunk { _ in } }
            var told: [String] = []
            server.onHandshakeFailure = { told.append("\($0)") }
            // They greet, and say nothing more.
            let greeting = try greeting(of: try loop.client())
            let silent = try (0..<2).map { _ in
                try loop.run(
                    until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            }
            for end in silent { end.write(greeting) }
            loop.advance(by: .milliseconds(100))
            let client = try connect(server, loop)
            loop.advance(by: .milliseconds(100))
            #expect(server.handshakes.underWay == 2 && !client.isCompleted)
            // One of the two makes room.
            let connection = try loop.run(until: client)
            loop.advance(by: .seconds(4))
            #expect(server.handshakes.failed == [.handshakeTimedOut: 1] && server.handshakes.completed == 1)
            #expect(told.count == 1 && told[0].contains(": the handshake took longer than 4.0 seconds;"))
            try loop.run(until: connection.close())
            for end in silent { end.abort() }
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
            handshakes.maxConcurrent = 0
            #expect(
                complaint {
                    _ = try TLSServer.listen(
                        host: "127.0.0.1", port: 0, context: try loop.server(), handshakes: handshakes,
                        owning: { _ in })
                } == "maxConcurrent must be at least 1, not 0")
            handshakes = TLSHandshakeLimits()
            handshakes.timeout = .zero
            #expect(
                complaint {
                    _ = try TLSServer.listen(
                        host: "127.0.0.1", port: 0, context: try loop.server(), handshakes: handshakes,
                        owning: { _ in })
                } == "the handshake timeout must be positive, not 0.0 seconds")
            handshakes = TLSHandshakeLimits()
            handshakes.greetingTimeout = .zero
            #expect(
                complaint {
                    _ = try TLSServer.listen(
                        host: "127.0.0.1", port: 0, context: try loop.server(), handshakes: handshakes,
                        owning: { _ in })
                } == "greetingTimeout must be positive, not 0.0 seconds")
            #expect(
                complaint {
                    _ = try TLSServer.listen(
                        host: "127.0.0.1", port: 0, context: try loop.client(), owning: { _ in })
                } == "a TLSServer was given the context of a client; give one made by TLSContext.server")
        }
    }

    @Test(
        "a draining server ends what waits for no answer with close_notify", arguments: TestNetwork.allCases)
    func drain(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var isTold = false
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in
                connection.draining.whenSuccess { isTold = true }
                return connection.forEachChunk { connection.write($0) }
            }
            let clients = try (0..<2).map { _ in try loop.run(until: try connect(server, loop)) }
            clients[0].write("hello\n")
            _ = try loop.run(until: clients[0].readLine())
            let drained = server.drain(within: .seconds(2))
            // One that has sent nothing yet has half of the time.
            for client in clients {
                #expect(try loop.run(until: client.readToEnd()).isEmpty)
                try loop.run(until: client.close())
            }
            let summary = try loop.run(until: drained)
            #expect(isTold && summary.aborted == 0 && summary.finished == 2, "\(summary)")
        }
    }

    @Test(
        "who pushes over TLS is never cut, and at the deadline has time for the rest",
        arguments: TestNetwork.allCases)
    func pushes(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var served: [TLSConnection] = []
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in
                served.append(connection)
                return connection.forEachChunk { connection.write($0) }
            }
            let client = try loop.run(until: try connect(server, loop))
            client.write("hello\n")
            _ = try loop.run(until: client.readLine())
            func push(_ numbers: Range<Int>) throws {
                for number in numbers {
                    served[0].write("\(number)\n")
                    try loop.run(until: loop.sleep(for: .milliseconds(1)))
                }
            }
            try push(0..<3)
            let drained = server.drain(within: .seconds(2))
            try push(3..<20)
            if network == .virtual { try loop.run(until: loop.sleep(for: .milliseconds(1500))) }
            served[0].write(Data(count: 1_000_000))
            // After the deadline.
            try loop.run(until: loop.sleep(for: .milliseconds(2100)))
            let all = try loop.run(until: client.readToEnd())
            let lines = Data((0..<20).map { "\($0)\n" }.joined().utf8)
            #expect(all.prefix(lines.count) == lines && all.count == lines.count + 1_000_000)
            try loop.run(until: client.close())
            let summary = try loop.run(until: drained)
            #expect(summary == ShutdownSummary(aborted: 1))
            served = []
        }
    }

    @Test("a message that comes after the end is cut, and that is told", arguments: TestNetwork.allCases)
    func cut(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in connection.forEachChunk { connection.write($0) }
            }
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = try loop.run(until: try connect(server, loop))
            client.write("hello\n")
            _ = try loop.run(until: client.readLine())
            let drained = server.drain(within: .seconds(5))
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            client.write("too late\n")
            while reported.isEmpty { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            _ = try? loop.run(until: client.close())
            let summary = try loop.run(until: drained)
            #expect(summary == ShutdownSummary(cut: 1))
            #expect(reported.count == 1 && reported.first as? StreamError == .drained)
        }
    }

    @Test("an end is told last", arguments: [false, true], TestNetwork.allCases)
    func toldLast(drains: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var told: [String] = []
            func follow(_ connection: TLSConnection, _ name: String) -> Future<Data> {
                let read = connection.read()
                var chain = read.always {}
                for _ in 0..<20 { chain = chain.tapError { _ in }.always {} }
                chain.whenFailure { _ in told.append(name) }
                return read
            }
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                follow($0, "served")
            }
            server.onConnectionError = { _ in }
            let client = try loop.run(until: try connect(server, loop))
            while server.handshakes.completed == 0 { try loop.run(until: loop.submit {}) }
            follow(client, "client").ignoreFailure()
            let aborted = client.abort()
            aborted.whenComplete { _ in told.append("aborted") }
            let ended = drains ? server.drain(within: .zero) : server.shutdown(within: .zero)
            ended.whenSuccess { _ in told.append("ended") }
            _ = try loop.run(until: ended)
            _ = try? loop.run(until: aborted)
            #expect(told.firstIndex(of: "client")! < told.firstIndex(of: "aborted")!, "\(told)")
            #expect(told.firstIndex(of: "served")! < told.firstIndex(of: "ended")!, "\(told)")
        }
    }

    @Test("a server drains at a signal")
    func signals() throws {
        try withLoop { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                $0.forEachChunk { _ in }
            }
            let drained = server.drain(on: .user2, within: .seconds(2))
            let client = try loop.run(until: try connect(server, loop))
            let host = (loop.core.driver as! VirtualDriver).host
            host.simulation.call { host.send(.user2) }
            #expect(try loop.run(until: client.readToEnd()).isEmpty)
            try loop.run(until: client.close())
            #expect(try loop.run(until: drained).finished == 1)
        }
    }

    @Test("errors of handlers are told, and their connections aborted")
    func handlerErrors() throws {
        struct Oops: Error {}
        try withLoop { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) { _ in
                loop.failed(Oops(), of: Void.self)
            }
            var told: [any Error] = []
            server.onConnectionError = { told.append($0) }
            let client = try loop.run(until: try connect(server, loop))
            #expect(loop.failure(of: client.read())?.isDisconnection == true)
            #expect(told.count == 1 && told.first is Oops)
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }

    @Test("a shutdown aborts handshakes and connections, and tells nobody of it")
    func shutdown() throws {
        try withLoop { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                $0.forEachChunk { _ in }
            }
            let client = try loop.run(until: try connect(server, loop))
            let silent = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            loop.advance(by: .seconds(1))
            #expect(server.activeConnections == 2)
            let summary = try loop.run(until: server.shutdown(within: .zero))
            #expect(summary.aborted == 2, "\(summary)")
            #expect(loop.failure(of: client.read()) != nil)
            for end in [client, silent] { end.abort() }
            #expect(server.handshakes.failed.isEmpty && server.handshakes.otherwiseFailed == 0)
        }
    }

    @Test(
        "a connection that cannot be made, or is cancelled, leaves nothing", arguments: TestNetwork.allCases)
    func connecting(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(), owning: { $0.close() })
            let wrong = TLSConnection.connect(
                host: "localhost", port: server.localAddress.port, context: try loop.server())
            #expect(
                complaint { _ = try loop.run(until: wrong) }
                    == "startTLS(client:) was given the context of a server; give one made by TLSContext.client"
            )
            let cancelled = try connect(server, loop)
            cancelled.cancel()
            #expect(cancelled.isCancelled)
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }
}
