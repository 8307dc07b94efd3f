import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// The hard parts of the library in many worlds: the order of what the system leaves open, latencies and cuts are
/// those of the seed.
struct HardPartsTests {
    private static let seeds: Range<UInt64> =
        0..<(isSoaking ? 20_000 : isDebug ? 100 : 400)

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
            // A request may be under way when the server tells its end.
            try Self.require((0...4).contains(taken - answered), "\(answered) of \(taken) requests")
            try Self.require(ended == result.finished, "\(ended) clients ended, and \(result)")
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
                    host: "0.0.0.0", port: 7, limits: limits, on: host.loop
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
}
