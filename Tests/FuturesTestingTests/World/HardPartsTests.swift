import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// The hard parts of the library in many worlds: the order of what the system leaves open, latencies and cuts are
/// those of the seed.
struct HardPartsTests {
    private static let seeds: Range<UInt64> =
        0..<(isSoaking ? 20_000 : isDebug ? 100 / UInt64(slowShare) : 400)

    private struct Wrong: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private static func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Wrong(text()) }
    }

    @Test("a server that drains answers what came before it told its end, and breaks no connection")
    func draining() throws {
        try World.explore(seeds: Self.seeds, repeating: false) { world in
            world.latency = .exponential(least: .microseconds(100), mean: .milliseconds(3))
            var (taken, answered, ended) = (0, 0, 0)
            var summary: Future<ShutdownSummary>?
            let server = try world.addHost("server") { host in
                let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                    for try await line in connection.lines() {
                        taken += 1
                        try await connection.loop.sleep(for: .milliseconds(2)).value
                        connection.write(line + Data("\n".utf8))
                    }
                }
                let start = Duration.milliseconds(Int.random(in: 1...60, using: &host.loop.random))
                summary = host.loop.sleep(for: start).flatMap { server.drain(within: .seconds(60)) }
            }
            let client = try world.addHost("client")
            for _ in 0..<4 {
                Future<Void>(on: client.loop) {
                    let connection = try await TCPConnection.connect(
                        host: "server", port: 7, on: client.loop
                    ).value
                    defer { connection.close() }
                    for number in 0..<100 {
                        connection.write("\(number)\n")
                        guard let line = try await connection.readLine().value else { break }
                        try Self.require(line == Data("\(number)".utf8), "an answer to another request")
                        answered += 1
                    }
                    ended += 1
                }.ignoreFailure()
            }
            let result = try world.run(until: summary!)
            try world.run(for: .seconds(1))
            try Self.require(result.aborted == 0 && result.failed == 0, "\(result)")
            // A request that was under way when the server told its end is not answered: its connection is cut.
            try Self.require(taken - answered == result.cut, "\(answered) of \(taken) requests, \(result)")
            try Self.require(
                ended == result.finished + result.cut, "\(ended) clients ended, and \(result)")
            try Self.require(server.loop.statistics.connections == 0, "a connection is left")
        }
    }

    @Test("a connection that closes lingers until its peer has all, though the peer sends something more")
    func lingering() throws {
        let answer = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try World.explore(seeds: Self.seeds, repeating: false) { world in
            let server = try world.addHost("server") { host in
                _ = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                    connection.readLine().flatMap { _ in connection.write(answer) }
                }
            }
            let client = try world.addHost("client")
            world.link("client", "server").bandwidth = 10_000_000
            let connection = try world.run(
                until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
            connection.write("give\n")
            client.loop.repeat(every: .milliseconds(3)) { connection.write("more") }.future.ignoreFailure()
            let got = try world.run(until: connection.readToEnd())
            try Self.require(got == answer, "\(got.count) bytes came")
            connection.close()
            try world.run(for: .seconds(10))
            try Self.require(server.loop.statistics.handles == 1, "the connection lingers for ever")
        }
    }

    @Test("while one of two addresses is silent the other is taken, and no second connection stays")
    func happyEyeballs() throws {
        try World.explore(seeds: Self.seeds, repeating: false) { world in
            for name in ["one", "two"] { try world.addHost(name, Programs.echo) }
            let client = try world.addHost("client")
            try world.names.set("both", to: ["10.0.0.1", "10.0.0.2"])
            var random = client.loop.random
            let isSlow = Bool.random(using: &random)
            if isSlow {
                world.link("one", "client").latency = .uniform(.milliseconds(100)...(.milliseconds(300)))
            } else {
                world.partition("one", "client")
            }
            let connection = try world.run(
                until: TCPConnection.connect(host: "both", port: 7, on: client.loop))
            try Self.require(world.now < .milliseconds(700), "it took \(world.now)")
            try world.run(for: .seconds(5))
            let open = ["one", "two"].map { world.host($0).loop.statistics.connections }.reduce(0, +)
            try Self.require(open == 1, "\(open) connections are open")
            try Self.require(client.loop.statistics.connections == 1, "a socket is left")
            connection.close()
        }
    }

    @Test("a client that tries again with growing pauses comes through when the server is back")
    func retrying() throws {
        try World.explore(seeds: Self.seeds, repeating: true) { world in
            let server = try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            var mix = World.FaultMix()
            mix.kinds = [.partition, .silentName, .breakConnections]
            world.injectFaults(mix, until: .seconds(10))
            var random = client.loop.random
            for _ in 0..<3 {
                let crash = Duration.milliseconds(Int.random(in: 0...8000, using: &random))
                world.schedule(after: crash) { server.crash() }
                world.schedule(after: crash + .seconds(1)) { server.restart() }
            }
            let answers = (0..<3).map { number in
                client.loop.retry(attempts: 100, backoff: .exponential(initial: .milliseconds(100))) { _ in
                    Programs.ask(client, line: "\(number)").timeout(after: .seconds(2)).map { line in
                        guard let line else { throw Wrong("the server ended") }
                        return line
                    }
                }
            }
            for (number, answer) in answers.enumerated() {
                let line = try world.run(until: answer, within: .seconds(60))
                try Self.require(line == Data("\(number)".utf8), "another's answer")
            }
            try world.run(for: .seconds(60))
            try Self.require(client.loop.statistics.handles == 0, "a socket of the client is left")
        }
    }

    @Test("time limits end what stands still, when they say, and nothing else")
    func timeLimits() throws {
        try World.explore(seeds: Self.seeds, repeating: false) { world in
            world.latency = .uniform(.zero...(.milliseconds(20)))
            var closes: [(reason: String, time: Duration)] = []
            let server = try world.addHost("server") { host in
                var limits = StreamLimits()
                limits.idleTimeout = .seconds(5)
                limits.framingTimeout = .seconds(2)
                let server = try TCPServer.listen(
                    host: "0.0.0.0", port: 7, options: ListenOptions(limits: limits), on: host.loop
                ) { connection in
                    for try await line in connection.lines() { connection.write(line + Data("\n".utf8)) }
                }
                server.onConnectionError = { error in
                    guard case StreamError.timedOut(let limit, _, _, _)? = error as? StreamError else {
                        return closes.append(("\(error)", world.now))
                    }
                    closes.append(("\(limit)", world.now))
                }
            }
            let client = try world.addHost("client")
            let connection = try world.run(
                until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
            var random = client.loop.random
            let pause = Duration.milliseconds(Int.random(in: 100...4900, using: &random))
            for _ in 0..<5 {
                connection.write("x\n")
                _ = try world.run(until: connection.readLine())
                try world.run(for: pause)
            }
            try Self.require(closes.isEmpty, "\(closes) after pauses of \(pause)")
            let isFraming = Bool.random(using: &random)
            if isFraming { connection.write("half a li") }
            let start = world.now
            try world.run(for: .seconds(20))
            let limit: Duration = isFraming ? .seconds(2) : .seconds(5)
            try Self.require(closes.count == 1, "\(closes)")
            let passed = closes[0].time - start
            // The last message was up to a link's time under way, and a pause has gone by.
            let least = isFraming ? limit : limit - pause - .milliseconds(50)
            try Self.require(
                passed >= least && passed <= limit + .milliseconds(200), "\(closes) after \(passed)")
            try Self.require(server.loop.statistics.connections == 0, "the connection is left")
            connection.close()
        }
    }

    /// What the handlers of a server group saw, on all its loops, in all its lives.
    private struct Group {
        var (begun, ended) = (0, 0)
        var taken: Set<Data> = []
    }

    /// Asks `count` times, over a connection that lasts as long as it can, and again after each failure. Returns the
    /// answers, fewer if `isOver` says so.
    private static func ask(
        _ count: Int, _ name: String, on loop: EventLoop, until isOver: @escaping () -> Bool
    ) async throws -> [Data] {
        var answers: [Data] = []
        var connection: TCPConnection?
        defer { connection?.abort() }
        while answers.count < count, !isOver() {
            let request = Data("\(name) \(answers.count)".utf8)
            do {
                if connection == nil {
                    connection = try await TCPConnection.connect(
                        host: "server", port: 7, timeout: .seconds(1), on: loop
                    ).value
                }
                connection!.write(request + Data("\n".utf8))
                let answer = try await connection!.readLine().timeout(after: .seconds(1)).value
                guard let answer else { throw Wrong("the server has ended") }
                try Self.require(answer == request, "an answer to another request")
                answers.append(answer)
                try await loop.sleep(for: .milliseconds(Int.random(in: 0...400, using: &loop.random))).value
            } catch {
                connection?.abort()
                connection = nil
                try await loop.sleep(for: .milliseconds(100)).value
            }
        }
        if let open = connection.take() { try? await open.close().value }
        return answers
    }

    @Test("a server group that a signal drains loses nothing silently, whatever happened to it before")
    func serverGroups() throws {
        try World.explore(seeds: Self.seeds, repeating: true) { world in
            world.latency = .exponential(least: .microseconds(100), mean: .milliseconds(3))
            let seen = Locked(Group())
            var summary: Future<ShutdownSummary>?
            let server = try world.addHost("server") { host in
                let group = try TCPServerGroup.listen(
                    host: "0.0.0.0", port: 7, loops: 3, on: host.loop,
                    awaiting: { connection in
                        seen.withLock { $0.begun += 1 }
                        connection.closed.whenComplete { _ in seen.withLock { $0.ended += 1 } }
                        for try await line in connection.lines() {
                            seen.withLock { _ = $0.taken.insert(line) }
                            try await connection.loop.sleep(for: .milliseconds(2)).value
                            connection.write(line + Data("\n".utf8))
                        }
                    })
                for loop in group.loops { loop.onUnhandledFailure = { _ in } }
                host.loop.onUnhandledFailure = { _ in }
                summary = group.drain(on: .terminate, within: .seconds(60), for: host.loop)
            }
            var isOver = false
            let clients = try (0..<4).map { number in
                let client = try world.addHost("client-\(number)")
                return Future(on: client.loop) {
                    try await Self.ask(20, client.name, on: client.loop) { isOver }
                }
            }
            var mix = World.FaultMix()
            mix.kinds = [.partition, .breakConnections, .pause, .slow]
            world.injectFaults(mix, until: .seconds(6))
            var random = server.loop.random
            let crash = Duration.milliseconds(Int.random(in: 20...6000, using: &random))
            let isKilled = Bool.random(using: &random)
            world.schedule(after: crash) { if isKilled { server.kill() } else { server.crash() } }
            world.schedule(after: crash + .milliseconds(500)) { server.restart() }
            // In some worlds the server drains, and crashes in the midst of that, before it has to drain again.
            let isLate = Bool.random(using: &random)
            if !isLate { world.schedule(after: crash - .milliseconds(20)) { server.send(.terminate) } }
            try world.run(for: .seconds(7))
            server.resume()

            let open = seen.withLock { $0.begun - $0.ended }
            let begunBefore = seen.withLock { $0.begun }
            server.send(.terminate)
            let start = world.now
            let result = try world.run(until: summary!, within: .seconds(61))
            isOver = true
            let (begun, ended) = seen.withLock { ($0.begun, $0.ended) }
            let counted = result.finished + result.aborted + result.failed + result.cut
            try Self.require(begun == ended, "\(begun) connections began, and \(ended) ended")
            try Self.require(counted == open + begun - begunBefore, "\(result), and \(open) were open")
            try Self.require(result.aborted == 0, "\(result) after \(world.now - start)")
            for client in clients {
                for answer in try world.run(until: client, within: .seconds(60)) {
                    try Self.require(seen.withLock { $0.taken.contains(answer) }, "an answer from nobody")
                }
            }
            try world.run(for: .seconds(10))
            let left = server.loop.statistics
            try Self.require(left.handles == 0 && left.futures < 2, server.loop.dump())
        }
    }
}
