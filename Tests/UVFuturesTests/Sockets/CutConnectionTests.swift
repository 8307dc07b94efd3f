import FoundationEssentials
import TestSupport
import Testing
import UVFutures

/// What was not answered or sent when a server has ended the connection, and how that is told.
struct CutConnectionTests {
    @Test("the end of the grace gives what is written its time", arguments: [false, true], bothKinds)
    func grace(draining: Bool, kind: (isUnix: Bool, network: TestNetwork)) throws {
        let size = 5_000_000
        func serve(_ connection: SocketConnection) -> Future<Void> {
            connection.readLine().unwrap()
                .flatMap { line in connection.write([line, Data("\n".utf8), Data(count: size)]) }
                .flatMap { connection.readToEnd() }.asVoid()
        }
        try withServed(kind, serve) { server, _, client in
            let loop = server.loop
            let grace = Duration.milliseconds(50)
            let end = draining ? server.drain(within: grace) : server.shutdown(within: grace)
            try loop.run(for: .milliseconds(100))
            #expect(try loop.run(until: client.readToEnd()).count == size)
            #expect(try loop.run(until: end) == ShutdownSummary(aborted: 1))
            _ = loop.outcome(of: client.close())
        }
    }

    @Test("what a peer does not take in that time is reset", arguments: TestNetwork.allCases)
    func untaken(network: TestNetwork) throws {
        func serve(_ connection: SocketConnection) -> Future<Void> {
            connection.readLine().unwrap()
                .flatMap { line in connection.write([line, Data("\n".utf8), Data(count: 50_000_000)]) }
        }
        var limits = StreamLimits()
        limits.closeTimeout = .milliseconds(200)
        try withServed((false, network), limits: limits, serve) { server, _, client in
            let loop = server.loop
            let start = loop.now
            let summary = try loop.run(until: server.drain(within: .milliseconds(100)))
            #expect(summary == ShutdownSummary(aborted: 1))
            #expect(start.duration(to: loop.now) >= .milliseconds(300))
            #expect(loop.failure(of: client.readToEnd(limit: .max))?.isDisconnection == true)
        }
    }

    @Test("a write after the end says why, is reported once, and counts as cut", arguments: bothKinds)
    func cut(kind: (isUnix: Bool, network: TestNetwork)) throws {
        try withServed(kind, ServingVerb.lines.serve) { server, served, client in
            let loop = server.loop
            var unhandled: [any Error] = []
            loop.onUnhandledFailure = { unhandled.append($0) }
            let end = server.drain(within: .seconds(60))
            let rest = try loop.run(until: client.readToEnd())
            #expect(rest.isEmpty)
            // The first push of a handler of which nobody could know that it pushes.
            for _ in 0..<3 { served.write("push\n") }
            let late = loop.failure(of: served.write("push\n"))
            #expect(late as? StreamError == .drained)
            #expect(
                "\(late!)".hasPrefix("this write does not reach the peer: the server is draining and has"))
            loop.closeAll(client)
            let summary = try loop.run(until: end)
            #expect(summary == ShutdownSummary(cut: 1))
            #expect("\(summary)" == "0 connections finished, 0 were aborted, 0 failed, 1 was cut")
            #expect("\(server.statistics)".hasSuffix("; closed: cut 1"))
            #expect(unhandled.count == 1 && unhandled.first as? StreamError == .drained)
        }
    }

    @Test("a write without bytes loses nothing", arguments: bothKinds)
    func empty(kind: (isUnix: Bool, network: TestNetwork)) throws {
        try withServed(kind, ServingVerb.lines.serve) { server, served, client in
            let loop = server.loop
            let end = server.drain(within: .seconds(60))
            _ = try loop.run(until: client.readToEnd())
            served.write("")
            let late = loop.failure(of: served.write(Data()))
            #expect(late as? StreamError == .drained)
            loop.closeAll(client)
            let summary = try loop.run(until: end)
            #expect(summary == ShutdownSummary(finished: 1))
        }
    }

    @Test("an answer of a later callback that says that it is under way is waited for", arguments: bothKinds)
    func answering(kind: (isUnix: Bool, network: TestNetwork)) throws {
        var answers: [Promise<Void>] = []
        func serve(_ connection: SocketConnection) -> Future<Void> {
            connection.forEachChunk { chunk in
                let answer = connection.loop.makePromise(of: Void.self)
                answers.append(answer)
                connection.answering(answer.future.flatMap { connection.write(chunk) })
                if answers.count == 1 { answer.succeed() }
            }
        }
        try withServed(kind, serve) { server, _, client in
            let loop = server.loop
            client.write("one\n")
            client.write("two\n")
            try loop.runUntil { server.statistics.bytesReceived == 14 }
            let end = server.drain(within: .seconds(60))
            let rest = client.readToEnd()
            try loop.run(for: .milliseconds(20))
            for answer in answers.dropFirst() {
                #expect(!rest.isCompleted)
                answer.succeed()
                try loop.run(for: .milliseconds(1))
            }
            #expect(try loop.run(until: rest) == Data("one\ntwo\n".utf8))
            loop.closeAll(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
            answers = []
        }
    }

    @Test("a group does the same on each loop, and adds up", arguments: [false, true])
    func group(pipes: Bool) throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                pipes
                    ? connection.pipe(to: connection).asVoid()
                    : connection.forEachChunk { connection.write($0) }
            }
            let errors = Counter()
            _ = try loop.run(until: group.onEach(on: loop) { $0.onConnectionError = { _ in errors.add(1) } })
            let clients = try (0..<6).map { _ in try loop.connect(to: group.localAddress) }
            for client in clients { #expect(try loop.ask(client, "hello") == "hello") }
            let end = group.drain(within: .seconds(60), on: loop)
            // Only what ends after its own loop has heard of the drain counts.
            var draining = 0
            while draining < clients.count {
                let counts = try loop.run(until: group.onEach(on: loop) { $0.statistics.draining })
                draining = counts.reduce(0, +)
            }
            for (number, client) in clients.enumerated() {
                if pipes {
                    #expect(try loop.ask(client, "again") == "again")
                } else {
                    #expect(try loop.run(until: client.read()).isEmpty)
                    client.write("late\n")
                    try loop.runUntil { errors.value > number }
                }
                client.close()
            }
            let summary = try loop.run(until: end)
            #expect(summary == (pipes ? ShutdownSummary(finished: 6) : ShutdownSummary(cut: 6)))
        }
    }
}
