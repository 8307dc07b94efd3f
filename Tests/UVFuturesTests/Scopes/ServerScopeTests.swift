import FoundationEssentials
import Futures
import Testing
import UVFutures

/// How a scope is told to end.
enum ScopeEnd: String, CaseIterable, Codable {
    case cancel, drain, failure

    func begin(_ scope: FutureScope) {
        switch self {
        case .cancel: scope.cancel()
        case .drain: scope.drain(within: .milliseconds(50))
        case .failure: scope.run { throw ScopeFailure() }
        }
    }

    /// Waits for the end, which is no failure unless that was one.
    func wait(for scope: FutureScope) throws {
        switch (self, scope.loop.outcome(of: scope.ended)) {
        case (.failure, .failure(is ScopeFailure)), (.cancel, .success), (.drain, .success): break
        case (_, let outcome): Issue.record("\(outcome)")
        }
    }
}

struct ScopeFailure: Error {}

/// What a member of a connection's scope does while its server drains.
enum DrainingMember: CaseIterable {
    case isQuiet, answers
    /// Writes without a word that it answers.
    case pushes
}

struct ServerScopeTests {
    @Test(
        "a scope ends its server, and waits for the clean-up of handlers, also of those without a connection",
        arguments: ScopeEnd.allCases, TestNetwork.allCases)
    func server(end: ScopeEnd, network: TestNetwork) throws {
        for hasScope in [false, true] { try server(end, network, hasScope: hasScope) }
    }

    @Test(
        "what works in a connection's scope is cancelled with the server's, though the handler has ended or takes its time",
        arguments: [true, false])
    func leftInScope(handlerHasEnded: Bool) throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            var hasBegun = false
            var cancelledAt: LoopInstant?
            let server = scope.add(
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    hasBegun = true
                    let member = connection.scope.add(loop.sleep(for: .seconds(1000)))
                    member.whenComplete { _ in cancelledAt = loop.now }
                    let promise = loop.makePromise(of: Void.self)
                    promise.onCancelRequest {
                        loop.schedule(after: .seconds(10)) { promise.succeed() }
                        return .continue
                    }
                    if handlerHasEnded { promise.succeed() }
                    return promise.future
                })
            let client = try loop.connect(to: server.localAddress)
            try loop.runUntil { hasBegun }
            let start = loop.now
            scope.cancel()
            try loop.run(until: scope.ended)
            #expect(cancelledAt == start)
            loop.closeAll(client)
        }
    }

    private func server(_ end: ScopeEnd, _ network: TestNetwork, hasScope: Bool) throws {
        try withLoop(network) { loop in
            var seen: [String] = []
            var running = 0
            let scope = FutureScope(on: loop)
            var options = ListenOptions()
            options.limits.closeTimeout = .milliseconds(20)
            let server = scope.add(
                try TCPServer.listen(host: "127.0.0.1", port: 0, options: options, on: loop) { connection in
                    running += 1
                    if hasScope { _ = connection.scope }
                    let isGone = try await connection.readLine().value == Data("bye".utf8)
                    do { try await loop.sleep(for: .seconds(600)).value } catch {
                        try await loop.shielded(within: .seconds(5)) {
                            try await loop.sleep(for: .milliseconds(5)).value
                        }
                        seen.append(isGone ? "gone" : "there")
                        throw error
                    }
                })
            server.onConnectionError = { seen.append("\($0)") }
            let gone = try loop.connect(to: server.localAddress)
            let client = try loop.connect(to: server.localAddress)
            gone.write("bye\n")
            client.write("hello\n")
            try loop.runUntil { running == 2 && gone.bytesSent > 0 && client.bytesSent > 0 }
            try loop.run(for: .milliseconds(2))
            // Its handler goes on.
            gone.abort()
            end.begin(scope)
            try end.wait(for: scope)
            #expect(seen.sorted() == ["gone", "there"])
            #expect(server.ended.isSuccess && server.activeConnections == 0)
            client.abort()
        }
    }

    @Test(
        "a scope ends a server whose handlers return futures, or own their connections",
        arguments: ScopeEnd.allCases, TestNetwork.allCases)
    func otherHandlers(end: ScopeEnd, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var owned: [TCPConnection] = []
            let scope = FutureScope(on: loop)
            let echoing = scope.add(try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo))
            let owning = scope.add(
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { owned.append($0) }))
            let clients = try [echoing, owning].map { try loop.connect(to: $0.localAddress) }
            clients[0].write("hello\n")
            _ = try loop.run(until: clients[0].readLine())
            try loop.runUntil { owned.count == 1 }
            owned[0].write("what was written comes\n")
            end.begin(scope)
            #expect(try loop.run(until: clients[1].readToEnd()) == Data("what was written comes\n".utf8))
            loop.closeAll(clients)
            try end.wait(for: scope)
            #expect(!owned[0].isOpen && loop.statistics.connections == 0)
        }
    }

    @Test(
        "a connection that its handler owns ends with its server, though it has a scope",
        arguments: ScopeEnd.allCases, TestNetwork.allCases)
    func ownedScope(end: ScopeEnd, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var owned: [TCPConnection] = []
            var ended = 0
            let scope = FutureScope(on: loop)
            let server = scope.add(
                try TCPServer.listen(
                    host: "127.0.0.1", port: 0, on: loop,
                    owning: { connection in
                        owned.append(connection)
                        connection.scope.run {
                            defer { ended += 1 }
                            try await loop.sleep(for: .seconds(600)).value
                        }
                    }))
            let (gone, client) = (
                try loop.connect(to: server.localAddress), try loop.connect(to: server.localAddress)
            )
            try loop.runUntil { owned.count == 2 }
            gone.abort()
            try loop.runUntil { ended == 1 }
            end.begin(scope)
            try end.wait(for: scope)
            #expect(ended == 2 && server.ended.isSuccess && server.activeConnections == 0)
            client.abort()
        }
    }

    @Test("the failure of a scope is reported, though who has let a signal drain it does not wait any more")
    func signal() throws {
        try withLoop { loop in
            var reported: [String] = []
            loop.onUnhandledFailure = { reported.append("\($0)") }
            func end(isCancelled: Bool) throws {
                let scope = FutureScope(on: loop)
                let drained = scope.drain(on: .user1, within: .seconds(1))
                if isCancelled { drained.cancel() }
                scope.run { throw ScopeFailure() }
                if !isCancelled { #expect(loop.failure(of: drained) is ScopeFailure) }
                try loop.runUntil { scope.count == 0 }
            }
            for isCancelled in [false, true] {
                try end(isCancelled: isCancelled)
                try loop.run(for: .milliseconds(2))
                #expect(reported.count == (isCancelled ? 1 : 0))
            }
        }
    }

    @Test(
        "a server that has never listened ends, and one that was closed is no failure",
        arguments: TestNetwork.allCases)
    func ended(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let scope = FutureScope(on: loop)
            scope.add(TCPServer(on: loop, owning: { _ in }))
            let closed = scope.add(try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo))
            let client = try loop.connect(to: closed.localAddress)
            client.write("hello\n")
            _ = try loop.run(until: client.readLine())
            try loop.run(until: closed.close())
            #expect(scope.count == 2 && !closed.ended.isCompleted)
            loop.closeAll(client)
            try loop.run(until: closed.ended)
            scope.cancel()
            try loop.run(until: scope.ended)
        }
    }

    @Test(
        "a server counts how its connections end from the beginning of its end",
        arguments: ScopeEnd.allCases, TestNetwork.allCases)
    func summary(end: ScopeEnd, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let scope = FutureScope(on: loop)
            let server = scope.add(try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo))
            let clients = try (0..<3).map { _ in try loop.connect(to: server.localAddress) }
            for client in clients { client.write("hello\n") }
            for client in clients { _ = try loop.run(until: client.readLine()) }
            loop.closeAll(clients[0])
            try loop.runUntil { server.activeConnections == 2 }
            #expect(server.shutdownSummary == ShutdownSummary())
            end.begin(scope)
            for client in clients[1...] {
                client.readToEnd().ignoreFailure().whenComplete { _ in client.close() }
            }
            try end.wait(for: scope)
            let expected = end == .drain ? ShutdownSummary(finished: 2) : ShutdownSummary(aborted: 2)
            #expect(server.shutdownSummary == expected)
        }
    }

    // MARK: The scope of a connection

    /// A served connection, its client, and what was reported.
    private func withConnection(
        _ network: TestNetwork, _ handler: @escaping (TCPConnection) async throws -> Void,
        _ body: (TCPServer, TCPConnection, _ reported: () -> [String]) throws -> Void
    ) throws {
        try withLoop(network) { loop in
            var reported: [String] = []
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, on: loop, awaiting: handler)
            server.onConnectionError = { reported.append("\($0)") }
            let client = try loop.connect(to: server.localAddress)
            try body(server, client) { reported }
            loop.closeAll(client)
            _ = try loop.run(until: server.shutdown(within: .zero))
            try loop.run(until: server.ended)
        }
    }

    @Test(
        "a connection stays open until all members of its scope have ended", arguments: TestNetwork.allCases)
    func connection(network: TestNetwork) throws {
        try withConnection(network) { connection in
            let loop = connection.loop
            connection.scope.run {
                try await loop.sleep(for: .milliseconds(10)).value
                connection.scope.run { connection.write("second\n") }
                connection.write("first\n")
            }
        } _: { server, client, reported in
            let all = try server.loop.run(until: client.readToEnd())
            #expect(all == Data("first\nsecond\n".utf8) && reported() == [])
        }
    }

    @Test(
        "the first failure of a member or of the handler cancels the others, and is reported as the handler's",
        arguments: TestNetwork.allCases, [false, true])
    func failure(network: TestNetwork, isOfHandler: Bool) throws {
        var seen: [String] = []
        try withConnection(network) { connection in
            let loop = connection.loop
            func work(fails: Bool) async throws {
                if fails {
                    try await loop.sleep(for: .milliseconds(5)).value
                    throw ScopeFailure()
                }
                do { try await loop.sleep(for: .seconds(600)).value } catch {
                    seen.append("\(error)")
                    throw error
                }
            }
            connection.scope.run { try await work(fails: !isOfHandler) }
            connection.scope.run { try await work(fails: false) }
            try await work(fails: isOfHandler)
        } _: { server, client, reported in
            #expect(server.loop.failure(of: client.readToEnd()) != nil, "it was reset")
            #expect(reported() == ["ScopeFailure()"])
        }
        #expect(seen == ["CancellationError()", "CancellationError()"])
    }

    @Test(
        "when the connection has gone, its members are cancelled, and the handler goes on",
        arguments: TestNetwork.allCases)
    func gone(network: TestNetwork) throws {
        var seen: [String] = []
        try withConnection(network) { connection in
            let loop = connection.loop
            connection.scope.run {
                do { try await loop.sleep(for: .seconds(600)).value } catch { seen.append("member \(error)") }
            }
            _ = try? await connection.readToEnd().value
            try? await connection.closed.value
            try await loop.sleep(for: .milliseconds(10)).value
            seen.append("handler")
            #expect(connection.scope.run {}.isCancelled)
        } _: { server, client, reported in
            try server.loop.run(for: .milliseconds(2))
            client.abort()
            try server.loop.runUntil { seen.count == 2 }
            #expect(seen == ["member CancellationError()", "handler"])
        }
    }

    @Test("a server that drains drains the scopes of its connections", arguments: TestNetwork.allCases)
    func draining(network: TestNetwork) throws {
        try withConnection(network) { connection in
            connection.scope.run {
                try await connection.scope.draining.value
                connection.write("goodbye\n")
            }
            connection.write("hello\n")
        } _: { server, client, reported throws in
            #expect(try server.loop.run(until: client.readLine()) == Data("hello".utf8))
            let drained = server.drain(within: .seconds(600))
            #expect(try server.loop.run(until: client.readToEnd()) == Data("goodbye\n".utf8))
            server.loop.closeAll(client)
            #expect(try server.loop.run(until: drained) == ShutdownSummary(finished: 1))
        }
    }

    @Test(
        "a server that drains closes no connection on which a member of its scope works, and closes it after that",
        arguments: TestNetwork.allCases, DrainingMember.allCases)
    func drainingMember(network: TestNetwork, member: DrainingMember) throws {
        try withConnection(network) { connection in
            let loop = connection.loop
            connection.scope.run {
                try await connection.scope.draining.value
                let pause = loop.sleep(for: .milliseconds(10))
                let written = pause.flatMap {
                    member == .isQuiet ? loop.succeeded() : connection.write("goodbye\n")
                }
                try await (member == .answers ? connection.answering(written) : written).value
            }
            for try await line in connection.lines() {
                try await connection.write(line + Data("\n".utf8)).value
            }
        } _: { server, client, reported in
            let loop = client.loop
            client.write("hello\n")
            #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
            let drained = server.drain(within: .seconds(60))
            let began = loop.now
            if member != .isQuiet {
                #expect(try loop.run(until: client.readLine()) == Data("goodbye".utf8))
            }
            // Who has pushed may push again, and is left to its client.
            if member != .pushes { #expect(try loop.run(until: client.readToEnd()).isEmpty) }
            try loop.run(until: client.close())
            let summary = try loop.run(until: drained)
            #expect(summary.finished == 1 && summary.cut == 0 && reported() == [], "\(summary)")
            // After half of its time, a server looks at all connections again.
            #expect(began.duration(to: loop.now) < .seconds(20))
        }
    }

    @Test(
        "the scope of a client ends with its connection, also if that is dropped",
        arguments: TestNetwork.allCases, ["close", "abort", "drop"])
    func client(network: TestNetwork, end: String) throws {
        try withLoop(network) { loop in
            let (near, far) = try loop.connectedPair()
            var connection: TCPConnection? = near
            let scope = near.scope
            let member = scope.add(loop.sleep(for: .seconds(600)))
            switch end {
            case "close":
                connection?.close()
                far.close()
            case "abort": connection?.abort()
            default:
                far.shutdownWrite()
                #expect(try loop.run(until: near.readToEnd()) == Data())
            }
            connection = nil
            _ = consume near
            try loop.run(until: scope.ended)
            #expect(member.isCancelled && scope.isCancelled)
            loop.closeAll(far)
        }
    }

    @Test(
        "a handler whose closure cancels the scope before it returns its future is cancelled, too",
        arguments: TestNetwork.allCases)
    func cancelledEarly(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.scope.cancel()
                return loop.sleep(for: .seconds(600))
            }
            let client = try loop.connect(to: server.localAddress)
            _ = loop.outcome(of: client.readToEnd())
            loop.closeAll(client)
            _ = try loop.run(until: server.shutdown(within: .seconds(60)))
            #expect(server.statistics.closes[.aborted] == 1)
        }
    }
}
