import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// A server group on a simulated host.
struct SimulatedGroupLoopTests {
    private static func listen(
        _ host: SimulatedHost, loops: Int = 3, port: Int = 7
    ) throws -> TCPServerGroup {
        try TCPServerGroup.listen(host: "0.0.0.0", port: port, loops: loops, on: host.loop) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
    }

    @Test("connections are spread over further loops of the host, and stay on theirs")
    func spreads() throws {
        let world = World(seed: 1)
        var group: TCPServerGroup!
        let server = try world.addHost("server") { host in group = try Self.listen(host) }
        let client = try world.addHost("client")
        #expect(Set(group.loops).count == 3 && !group.loops.contains(server.loop))
        #expect(group.localAddress.port == 7)
        for _ in 0..<60 { #expect(try world.run(until: Programs.ask(client)) == Data("hello".utf8)) }
        let statistics = try world.run(until: group.onEach(on: server.loop) { $0.statistics })
        #expect(statistics.map(\.accepted).reduce(0, +) == 60)
        #expect(statistics.allSatisfy { $0.accepted > 8 })
        let order = try world.run(until: group.onEach(on: server.loop) { $0.loop })
        #expect(order == group.loops)
        #expect(try world.run(until: group.onEach(on: client.loop) { _ in 1 }) == [1, 1, 1])
    }

    @Test("a signal drains the group in virtual time, a second one ends it, and its loops are gone")
    func drains() throws {
        let world = World(seed: 1)
        var (group, summary): (TCPServerGroup?, Future<ShutdownSummary>?)
        let server = try world.addHost("server") { host in
            let made = try Self.listen(host)
            group = made
            summary = made.drain(on: .terminate, within: .seconds(600), for: host.loop)
        }
        let client = try world.addHost("client")
        let connections = try (0..<10).map { _ in
            try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        }
        for connection in connections {
            connection.write("?")
            _ = try world.run(until: connection.read())
        }
        server.send(.terminate)
        for connection in connections.dropFirst() {
            #expect(try world.run(until: connection.read()).isEmpty)
            connection.close()
        }
        try world.run(for: .seconds(60))
        #expect(!summary!.isCompleted)
        server.send(.terminate)
        let ended = try world.run(until: summary!)
        #expect([ended.finished, ended.aborted, ended.failed] == [9, 1, 0])
        // Until here the first one has to stay open.
        withExtendedLifetime(connections) {}
        #expect(try world.run(until: group!.shutdown(within: .zero, on: server.loop)) == ended)
        #expect(
            world.failure(of: group!.onEach(on: server.loop) { _ in 1 }) == "\(FutureError.shutDown)")
        weak let freed = group!.loops[0].core
        group = nil
        try world.run(for: .seconds(1))
        #expect(freed == nil)
        let late = TCPConnection.connect(host: "server", port: 7, on: client.loop)
        #expect(world.failure(of: late).contains("ECONNREFUSED"))
    }

    @Test("a program that awaits makes a group, asks it and drains it; handlers may ask the main loop")
    func awaits() throws {
        let world = World(seed: 1)
        let count = Locked(0)
        try world.addHost("server") { host in
            let loop = host.loop
            let group = try TCPServerGroup.listen(
                host: "0.0.0.0", port: 7, loops: 2, on: loop,
                awaiting: { connection in
                    for try await line in connection.lines() {
                        let number = try await loop.run {
                            count.withLock { count in
                                count += 1
                                return count
                            }
                        }
                        connection.write(line + Data(" \(number)\n".utf8))
                    }
                })
            try await loop.sleep(for: .seconds(10)).value
            let active = try await group.onEach { $0.activeConnections }
            host.note("has \(active.reduce(0, +)) connections")
            let summary = try await group.drain(within: .seconds(5))
            host.note("\(summary)")
        }
        world.keepsTrace = true
        let client = try world.addHost("client")
        #expect(try world.run(until: Programs.ask(client, line: "a")) == Data("a 1".utf8))
        #expect(try world.run(until: Programs.ask(client, line: "b")) == Data("b 2".utf8))
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        #expect(try world.run(until: connection.readToEnd()).isEmpty)
        connection.close()
        try world.run(for: .seconds(1))
        #expect(world.trace.filter { $0.contains("server has") || $0.contains("finished") }.count == 2)
        #expect(world.trace.contains { $0.hasSuffix("server has 1 connections") })
    }

    @Test(
        "a host that ends in the midst of everything ends its group, whoever waits for whom",
        arguments: [false, true], 0..<20)
    func crashes(isKilled: Bool, time: Int) throws {
        let world = World(seed: UInt64(time))
        var outcomes: [String] = []
        let server = try world.addHost("server") { host in
            let loop = host.loop
            loop.onUnhandledFailure = { _ in }
            let group = try TCPServerGroup.listen(
                host: "0.0.0.0", port: 7, loops: 3, on: loop,
                awaiting: { connection in
                    for try await line in connection.lines() {
                        let reply = try await loop.run { loop.sleep(for: .milliseconds(5)).map { line } }
                        try await connection.write(reply + Data("\n".utf8)).value
                    }
                })
            for each in group.loops { each.onUnhandledFailure = { _ in } }
            loop.schedule(after: .milliseconds(40)) {
                group.onEach(on: loop) { $0.activeConnections }.ignoreFailure()
                group.drain(within: .seconds(5), on: loop).whenComplete { outcomes.append("\($0)") }
            }.future.ignoreFailure()
            try await loop.sleep(for: .milliseconds(45)).value
            let result: Result<ShutdownSummary, any Error>
            do {
                result = .success(try await group.shutdown(within: .milliseconds(10)))
            } catch {
                result = .failure(error)
            }
            outcomes.append("\(result)")
        }
        let client = try world.addHost("client")
        for number in 0..<6 {
            Programs.ask(client, line: "\(number)").ignoreFailure()
        }
        try world.run(for: .milliseconds(5 * time))
        if isKilled { server.kill() } else { server.crash() }
        #expect(server.isDown)
        let before = outcomes.count
        try world.run(for: .seconds(10))
        #expect(outcomes.count == before && before <= 2)
        server.restart()
        #expect(try world.run(until: Programs.ask(client, line: "again")) == Data("again".utf8))
        try world.run(for: .seconds(10))
        #expect(outcomes.count == before + 2)
    }

    @Test("a program that waits for the end of another loop ends with its host", arguments: [false, true])
    func waitsForEnd(isKilled: Bool) throws {
        let world = World(seed: 1)
        var isOver = false
        let host = try world.addHost("a") { host in
            let other = host.makeLoop()
            await withCheckedContinuation { continuation in
                other.execute { other.never(of: Void.self).whenComplete { _ in continuation.resume() } }
            }
            isOver = true
        }
        try world.run(for: .seconds(1))
        #expect(!isOver)
        if isKilled { host.kill() } else { host.crash() }
        #expect(isOver && host.isDown)
    }

    @Test("arguments that make no sense leave no loop behind, nor does a port that is taken")
    func refuses() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        #expect(throws: FutureError.invalidArgument("0 loops are out of range; give 1 to 1024")) {
            try Self.listen(host, loops: 0)
        }
        let listener = try TCPListener(host: "0.0.0.0", port: 7, on: host.loop)
        let error = #expect(throws: SystemError.self) { try Self.listen(host) }
        #expect("\(error!)" == "listen EADDRINUSE 0.0.0.0:7: address already in use")
        try world.run(until: listener.close())
        host.maxDescriptors = 2
        #expect(throws: SystemError.self) { try Self.listen(host) }
        host.maxDescriptors = 3
        let group = try Self.listen(host)
        let negative = group.shutdown(within: .seconds(-1), on: host.loop)
        #expect(world.failure(of: negative).hasPrefix("a time limit of -1.0 seconds is negative"))
        let loop = host.loop
        host.crash()
        #expect(throws: FutureError.shutDown) {
            try TCPServerGroup.listen(host: "0.0.0.0", port: 7, loops: 1, on: loop) {
                $0.forEachChunk { _ in }
            }
        }
        let virtual = EventLoop.virtual()
        let text =
            "EventLoop.virtual() is one loop by itself, and a server group needs several; use a host of a World"
        #expect(throws: FutureError.invalidArgument(text)) {
            try TCPServerGroup.listen(host: "0.0.0.0", port: 7, loops: 1, on: virtual) {
                $0.forEachChunk { _ in }
            }
        }
    }

    @Test("waiting for a loop of the group with the thread that runs it traps, as on its own thread")
    func blocks() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let world = World(seed: 1)
            try world.addHost("a") { host in
                let loop = try Self.listen(host).loops[0]
                try loop.wait { loop.succeeded() }
            }
        }
        expect("wait was called on the event loop's own thread, which would block the loop", in: result)
    }

    @Test("with a real loop, and without one, the group has threads")
    func threads() throws {
        let loop = try EventLoop()
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2, on: loop) {
            $0.forEachChunk { _ in }
        }
        #expect(try !loop.run(until: group.onEach(on: loop) { _ in loop.isCurrent }).contains(true))
        #expect(try loop.run(until: group.shutdown(within: .zero, on: loop)).finished == 0)
        loop.shutdown()
    }
}
