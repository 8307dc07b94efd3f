import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// What is answered arrives, whoever ends the connection and whatever its peer still sends.
struct SocketLingeringTests {
    /// What ends a connection of a server that has answered.
    enum Ending: CaseIterable {
        case handler, body, close, drain, shutdown, idleLimit

        func handle(_ connection: SocketConnection, _ answer: Data) -> Future<Void> {
            let loop = connection.loop
            switch self {
            case .body:
                return Future(on: loop) {
                    _ = try await connection.read().value
                    connection.write(answer)
                }
            case .close:
                return connection.read().flatMap { _ in
                    connection.write(answer)
                    connection.close()
                    return connection.closed
                }
            case .handler, .shutdown:
                return connection.read().map { _ in connection.write(answer).ignoreFailure() }
            case .drain, .idleLimit:
                return connection.forEachChunk { chunk in
                    // What comes after the half-close cannot be answered.
                    chunk == Data("ask".utf8) ? connection.write(answer) : connection.write(chunk)
                }
            }
        }
    }

    private static let size = 600_000
    private static let pattern = (0..<size).map { UInt8(truncatingIfNeeded: $0) }

    @Test(
        "a slow reader that sends something more gets all that it was sent, and then the end",
        arguments: Ending.allCases, bothKinds)
    func slowReader(ending: Ending, place: (isUnix: Bool, network: TestNetwork)) throws {
        let overUnix = place.isUnix
        try withLoop(place.network) { loop in
            // A UNIX socket takes no more than that at once, and idle is only a connection that has sent all.
            let size = ending == .idleLimit && overUnix ? 50_000 : Self.size
            let answer = Data(Self.pattern.prefix(size))
            var limits = StreamLimits()
            if ending == .idleLimit { limits.idleTimeout = .milliseconds(30) }
            let server = SocketServer<SocketConnection>(on: loop) { ending.handle($0, answer) }
            var errors: [any Error] = []
            server.onConnectionError = { errors.append($0) }
            let client = try connect(to: server, overUnix: overUnix, limits)
            client.write("ask")
            let first = try loop.run(until: client.read())
            if ending == .drain { try loop.runUntil { server.statistics.bytesReceived == 3 } }
            let drained = ending == .drain ? server.drain(within: .seconds(60)) : nil
            let down = ending == .shutdown ? server.shutdown(within: .seconds(60)) : nil
            try loop.run(for: .milliseconds(ending == .idleLimit ? 60 : 5))
            client.write("late")
            try loop.run(for: .milliseconds(5))
            let rest = try loop.run(until: client.readToEnd())
            // Over a UNIX socket the answer may not all be sent by then: what comes before the half-close is answered.
            #expect((first + rest).prefix(size) == answer)
            _ = loop.outcome(of: client.close())
            let isCut = ending == .drain && !overUnix
            for summary in [drained, down].compactMap({ $0 }) {
                let expected = isCut ? ShutdownSummary(cut: 1) : ShutdownSummary(finished: 1)
                #expect(try loop.run(until: summary) == expected)
            }
            try loop.runUntil { server.statistics.lingering + server.activeConnections == 0 }
            let idle = StreamError.timedOut(.idle, after: .milliseconds(30), unread: 0, unsent: 0)
            let expected = ending == .idleLimit ? [idle] : isCut ? [.drained] : []
            #expect(errors.map { $0 as? StreamError } == expected)
            try loop.run(until: server.close())
        }
    }

    @Test(
        "a peer that has finished is not waited for, though nobody has read that yet",
        arguments: TestNetwork.allCases)
    func finished(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            try loop.run(until: client.shutdownWrite())
            try loop.run(for: .milliseconds(1))
            try loop.run(until: server.close())
            #expect(!server.hasLingered)
            loop.closeAll(client)
        }
    }

    @Test(
        "a connection that lingers leaves its place to the next", arguments: [false, true],
        TestNetwork.allCases)
    func place(overUnix: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection in
                connection.write("welcome").asVoid()
            }
            try server.setAcceptLimits(AcceptLimits(maxConnections: 1))
            let clients = try (0..<5).map { _ in try connect(to: server, overUnix: overUnix) }
            for client in clients {
                #expect(try loop.run(until: client.readToEnd()) == Data("welcome".utf8))
            }
            try loop.runUntil { server.statistics.lingering == 5 }
            #expect(server.activeConnections == 0 && server.statistics.active == 0)
            #expect(
                "\(server.statistics)".hasPrefix(
                    "5 connections accepted, 0 shed, 0 active, 0 draining, 5 lingering; "))
            for client in clients { _ = loop.outcome(of: client.close()) }
            try loop.runUntil { server.statistics.lingering == 0 }
            #expect(server.statistics.closes == [.closed: 5])
            try loop.run(until: server.close())
        }
    }

    @Test(
        "what the peer has not acknowledged in time is no connection that has finished",
        arguments: TestNetwork.allCases)
    func unacknowledged(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.closeTimeout = .milliseconds(20)
            let begin = loop.makePromise(of: Void.self)
            let server = SocketServer<SocketConnection>(on: loop) { connection in
                begin.future.flatMap { connection.write(Data(count: Self.size)) }
            }
            var errors: [StreamError?] = []
            server.onConnectionError = { errors.append($0 as? StreamError) }
            let client = try connect(to: server, overUnix: false, limits)
            try loop.runUntil { server.activeConnections == 1 }
            let end = server.shutdown(within: .seconds(60))
            begin.succeed()
            let summary = try loop.run(until: end)
            #expect("\(summary)" == "0 connections finished, 0 were aborted, 1 failed")
            #expect(server.statistics.closes == [.unacknowledged: 1])
            guard case .unacknowledged(let bytes)? = errors.first ?? nil else {
                Issue.record("\(errors)")
                return
            }
            #expect((1...Self.size).contains(bytes))
            #expect(
                "\(StreamError.unacknowledged(bytes: bytes))"
                    == "the connection was closed before the peer had acknowledged the last \(bytes) bytes; give "
                    + "close(within:) more time, or let the peer read all of them")
            // The system goes on.
            #expect(try loop.run(until: client.readToEnd()).count == Self.size)
            _ = loop.outcome(of: client.close())
        }
    }

    @Test(
        "a peer that has finished, and reads slowly, is waited for by a server that ends",
        arguments: [true, false], TestNetwork.allCases)
    func finishedSlowly(reads: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection in
                connection.readToEnd().flatMap { _ in connection.write(Data(count: Self.size)) }
            }
            server.onConnectionError = { _ in }
            var limits = StreamLimits()
            if !reads { limits.closeTimeout = .seconds(2) }
            let client = try connect(to: server, overUnix: false, limits)
            try loop.runUntil { server.activeConnections == 1 }
            let down = server.shutdown(within: reads ? .seconds(60) : .milliseconds(200))
            try loop.run(until: client.shutdownWrite())
            try loop.runUntil { server.statistics.bytesSent == Self.size }
            try loop.run(for: .milliseconds(20))
            #expect(!down.isCompleted)
            if reads { #expect(try loop.run(until: client.readToEnd()).count == Self.size) }
            let summary = try loop.run(until: down)
            #expect(summary == (reads ? ShutdownSummary(finished: 1) : ShutdownSummary(failed: 1)))
            // The system goes on.
            if !reads { #expect(try loop.run(until: client.readToEnd()).count == Self.size) }
            _ = loop.outcome(of: client.close())
        }
    }

    @Test(
        "at the end of the grace what lingers has its own time, and is closed if its peer has got all",
        arguments: TestNetwork.allCases)
    func cutOff(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection in
                connection.read().flatMap { ask in
                    connection.write(Data(count: ask == Data("much".utf8) ? Self.size : 10))
                }
            }
            server.onConnectionError = { _ in }
            var limits = StreamLimits()
            limits.closeTimeout = .seconds(3)
            let (slow, done) = (
                try connect(to: server, overUnix: false, limits), try connect(to: server, overUnix: false)
            )
            slow.write("much")
            done.write("little")
            #expect(try loop.run(until: done.readToEnd()).count == 10)
            try loop.runUntil { server.statistics.lingering == 2 }
            let summary = try loop.run(until: server.shutdown(within: .milliseconds(300)))
            #expect(summary == ShutdownSummary(finished: 1, failed: 1))
            #expect(server.statistics.closes == [.closed: 1, .unacknowledged: 1])
            #expect(try loop.run(until: slow.readToEnd()).count == Self.size)
            for client in [slow, done] { _ = loop.outcome(of: client.close()) }
        }
    }

    @Test(
        "a handler that fails while the server drains is counted as aborted, where its peer has left as failed",
        arguments: TestNetwork.allCases)
    func summary(network: TestNetwork) throws {
        struct Oops: Error {}
        try withLoop(network) { loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection in
                connection.forEachChunk { chunk in
                    if chunk == Data("fail".utf8) { throw Oops() }
                }
            }
            server.onConnectionError = { _ in }
            let clients = try (0..<3).map { _ in try connect(to: server, overUnix: false) }
            try loop.runUntil { server.activeConnections == 3 }
            let end = server.shutdown(within: .seconds(60))
            clients[0].write("fail")
            clients[1].abort()
            clients[2].close()
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1, aborted: 1, failed: 1))
            #expect(
                "\(try loop.run(until: end))" == "1 connection finished, 1 was aborted, 1 failed")
            _ = loop.outcome(of: clients[0].close())
        }
    }

    private func connect(
        to server: SocketServer<SocketConnection>, overUnix: Bool, _ limits: StreamLimits = StreamLimits()
    ) throws -> SocketConnection {
        let loop = server.loop
        if overUnix {
            let path =
                server.localAddresses.first?.path ?? "@lingering.\(getpid()).\(UInt64.random(in: 0 ... .max))"
            if server.localAddresses.isEmpty {
                try server.listen(path: path, options: ListenOptions(limits: limits))
            }
            return try loop.run(until: UnixConnection.connect(path: path, on: loop))
        }
        if server.localAddresses.isEmpty {
            try server.listen(host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits))
        }
        return try loop.connect(to: server.localAddress)
    }
}
