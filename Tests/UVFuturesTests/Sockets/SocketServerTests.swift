import ByteStreams
import FoundationEssentials
import Futures
import Glibc
import Testing
import UVFutures

struct SocketServerTests {
    enum Kind: CaseIterable {
        case tcp, unix, tcpMade, unixMade, both, group
    }

    enum Handler: CaseIterable {
        case future, awaiting, owning
    }

    private struct Mistake: Error {}

    /// The loops of a group have threads of their own, and are real ones.
    private static let kinds = TestNetwork.allCases.flatMap { network in
        Kind.allCases.filter { network == .system || $0 != .group }.map { ($0, network) }
    }

    @Test("each kind of server takes each kind of handler", arguments: kinds, Handler.allCases)
    func table(server: (Kind, TestNetwork), handler: Handler) throws {
        let (kind, network) = server
        try withLoop(network) { loop in
            let (address, shutdown) = try listen(kind, handler, on: loop)
            let client = try connect(to: address, on: loop)
            client.write("one\ntwo\n")
            client.shutdownWrite()
            #expect(try loop.run(until: client.readLine()) == Data("one".utf8))
            var aborted = 0
            switch handler {
            case .future: #expect(try loop.run(until: client.readToEnd()).isEmpty)
            case .awaiting: #expect(try loop.run(until: client.readToEnd()) == Data("two\n".utf8))
            case .owning: aborted = 1
            }
            let closed = client.close()
            #expect(try loop.run(until: shutdown()).aborted == aborted)
            _ = loop.outcome(of: closed)
        }
    }

    @Test("a server says in one line where it listens and how many connections it has")
    func line() throws {
        try withLoop { loop in
            var open: [TCPConnection] = []
            let server = TCPServer(on: loop, owning: { open.append($0) })
            #expect("\(server)" == "server of TCPConnection at no address with 0 connections")
            let addresses = try ["127.0.0.1", "127.0.0.2"].map { try server.listen(host: $0, port: 0) }
            var clients: [TCPConnection] = []
            for counted in ["1 connection", "2 connections"] {
                clients.append(try loop.connect(to: addresses[0]))
                try loop.runUntil { server.activeConnections == clients.count }
                let both = "\(addresses[0]), \(addresses[1])"
                #expect("\(server)" == "server of TCPConnection at \(both) with \(counted)")
            }
            for client in clients { client.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
            open = []
        }
    }

    @Test(
        "an error that an asynchronous handler throws aborts the connection, and is reported once",
        arguments: TestNetwork.allCases)
    func throwing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var reported: [any Error] = []
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                _ = try await connection.read().value
                throw Mistake()
            }
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: server.localAddress)
            client.write("x")
            #expect((loop.failure(of: client.read()) as? SystemError)?.code == .connectionReset)
            _ = try loop.run(until: server.shutdown(within: .zero))
            #expect(reported.count == 1)
            #expect(reported.first is Mistake)
            #expect(server.statistics.closes == [.aborted: 1])
        }
    }

    @Test(
        "an asynchronous handler ends when its server shuts down, and nothing is reported",
        arguments: TestNetwork.allCases)
    func shutDown(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var hasEnded = false
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                defer { hasEnded = true }
                for try await _ in connection.chunks {}
            }
            server.onConnectionError = { Issue.record("reported: \($0)") }
            let client = try loop.connect(to: server.localAddress)
            try loop.runUntil { server.activeConnections == 1 }
            #expect(try loop.run(until: server.shutdown(within: .zero)).aborted == 1)
            try loop.runUntil { hasEnded }
            _ = loop.outcome(of: client.close())
        }
    }

    @Test("a failure with that of a clean-up is reported, unless both come from a cancellation")
    func cleanUps() throws {
        try withLoop(.virtual) { loop in
            let (cancelled, mistake) = (CancellationError(), Mistake())
            let failures = [
                CleanUpError(cancelled, cleanUpError: cancelled),
                CleanUpError(cancelled, cleanUpError: mistake),
                CleanUpError(mistake, cleanUpError: cancelled),
            ]
            var left = failures[...]
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { _ in
                loop.failed(left.removeFirst(), of: Void.self)
            }
            var reported: [String] = []
            server.onConnectionError = { reported.append("\($0)") }
            for _ in failures { _ = loop.outcome(of: try loop.connect(to: server.localAddress).readToEnd()) }
            #expect(reported == failures.dropFirst().map { "\($0)" })
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    enum Failing: CaseIterable, Codable {
        case throwing, future, awaiting
    }

    @Test(
        "a failure that nobody hears of is printed with the connection that it ended",
        arguments: Failing.allCases, TestNetwork.allCases)
    func printed(failing: Failing, network: TestNetwork) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [failing, network] in
            let loop = try network.makeLoop()
            let server: TCPServer =
                switch failing {
                case .throwing: TCPServer(on: loop, owning: { _ in throw Mistake() })
                case .future: TCPServer(on: loop) { $0.read().map { _ in throw Mistake() } }
                case .awaiting:
                    TCPServer(on: loop) { connection in
                        _ = try await connection.read().value
                        throw Mistake()
                    }
                }
            let port = try server.listen(host: "127.0.0.1", port: 0).port
            let client = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).flatMap { client in
                client.write("x").ignoreFailure()
                return client.closed.always { _ = client }
            }
            .recover { _ in }
            try loop.run(until: client)
            _ = try loop.run(until: server.shutdown(within: .seconds(60)))
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("Unhandled failure of the handler of TCPConnection "), "\(printed)")
        #expect(printed.contains("(127.0.0.1:") && printed.contains("): Mistake()\n"), "\(printed)")
    }

    // MARK: The table

    private typealias Served = (SocketAddress, shutdown: () -> Future<ShutdownSummary>)

    private func listen(_ kind: Kind, _ handler: Handler, on loop: EventLoop) throws -> Served {
        let path = "@handlers-\(getpid())-\(handler)-\(kind)"
        switch kind {
        case .tcp:
            return served(try listenTCP(handler, on: loop))
        case .unix:
            return served(try listenUnix(handler, at: path, on: loop))
        case .tcpMade:
            let server: TCPServer = make(handler, on: loop)
            try server.listen(host: "127.0.0.1", port: 0)
            return served(server)
        case .unixMade:
            let server: UnixServer = make(handler, on: loop)
            try server.listen(path: path)
            return served(server)
        case .both:
            let server: SocketServer<SocketConnection> = make(handler, on: loop)
            try server.listen(path: path)
            try server.listen(host: "127.0.0.1", port: 0)
            return served(server)
        case .group:
            let group = try listenGroup(handler)
            return (group.localAddress, { group.shutdown(within: .zero, on: loop) })
        }
    }

    private func served<Connection>(_ server: SocketServer<Connection>) -> Served {
        (server.localAddress, { server.shutdown(within: .zero) })
    }

    private func listenTCP(_ handler: Handler, on loop: EventLoop) throws -> TCPServer {
        let host = "127.0.0.1"
        return switch handler {
        case .future: try .listen(host: host, port: 0, on: loop) { connection in answerOne(connection) }
        case .awaiting:
            try .listen(host: host, port: 0, on: loop) { connection in
                for try await line in connection.lines() { try await answer(line, on: connection) }
            }
        case .owning: try .listen(host: host, port: 0, on: loop, owning: { keep($0) })
        }
    }

    private func listenUnix(_ handler: Handler, at path: String, on loop: EventLoop) throws -> UnixServer {
        switch handler {
        case .future: try .listen(path: path, on: loop) { connection in answerOne(connection) }
        case .awaiting:
            try .listen(path: path, on: loop) { connection in
                for try await line in connection.lines() { try await answer(line, on: connection) }
            }
        case .owning: try .listen(path: path, on: loop, owning: { keep($0) })
        }
    }

    private func make<Connection>(_ handler: Handler, on loop: EventLoop) -> SocketServer<Connection> {
        switch handler {
        case .future: SocketServer(on: loop) { connection in answerOne(connection) }
        case .awaiting:
            SocketServer(on: loop) { connection in
                for try await line in connection.lines() { try await answer(line, on: connection) }
            }
        case .owning: SocketServer(on: loop, owning: { keep($0) })
        }
    }

    private func listenGroup(_ handler: Handler) throws -> TCPServerGroup {
        let host = "127.0.0.1"
        return switch handler {
        case .future: try .listen(host: host, port: 0, loops: 2) { connection in answerOne(connection) }
        case .awaiting:
            try .listen(host: host, port: 0, loops: 2) { connection in
                for try await line in connection.lines() { try await answer(line, on: connection) }
            }
        case .owning: try .listen(host: host, port: 0, loops: 2, owning: { keep($0) })
        }
    }

    private func connect(to address: SocketAddress, on loop: EventLoop) throws -> ByteStream {
        if let path = address.path {
            return try loop.run(until: UnixConnection.connect(path: path, on: loop))
        }
        return try loop.connect(to: address)
    }
}

private func answerOne(_ connection: SocketConnection) -> Future<Void> {
    connection.readLine().flatMap { line in connection.write((line ?? Data()) + Data("\n".utf8)) }
}

private func answer(_ line: Data, on connection: SocketConnection) async throws {
    #expect(connection.loop.isCurrent)
    try await connection.write(line + Data("\n".utf8)).value
    #expect(connection.loop.isCurrent)
}

private func keep(_ connection: SocketConnection) {
    answerOne(connection).ignoreFailure()
}
