import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct LinkTests {
    @Test("a link lets no more bytes pass in a second than its bandwidth, in each direction")
    func bandwidth() throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(1))
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        world.link("client", "server").bandwidth = 1_000_000
        #expect(world.link("server", "client").bandwidth == 1_000_000)
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        let start = world.now
        connection.write(Data(count: 2_000_000))
        #expect(try world.run(until: connection.read(exactly: 2_000_000))?.count == 2_000_000)
        let passed = world.now - start
        #expect(passed > .seconds(2) && passed < .milliseconds(2200), "\(passed)")
        connection.close()
    }

    @Test("breaking the connections of a link resets both ends, and those of no other")
    func breaking() throws {
        let world = World(seed: 1)
        try world.addHost("server", Programs.echo)
        let clients = try ["a", "b"].map { try world.addHost($0) }
        let connections = try clients.map {
            try world.run(until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: $0.loop))
        }
        for connection in connections {
            connection.write("x")
            _ = try world.run(until: connection.read())
        }
        world.link("a", "server").breakConnections()
        #expect(world.failure(of: connections[0].read()).hasPrefix("read ECONNRESET"))
        connections[1].write("y")
        #expect(try world.run(until: connections[1].read()) == Data("y".utf8))
        #expect(world.host("server").loop.statistics.connections == 1)
        connections[1].close()
    }

    @Test(
        "a reset that a partition swallows is sent again, when the peer sends bytes or its end",
        arguments: [false, true], [false, true])
    func lostReset(isCutOnTheWay: Bool, sendsEnd: Bool) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        var server: TCPConnection!
        try world.addHost("server") { host in
            _ = try TCPServer.listen(
                host: "0.0.0.0", port: 7, on: host.loop, owning: { server = $0 })
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        try world.run(until: { server != nil })
        if !isCutOnTheWay { world.partition("client", "server") }
        try world.run(until: connection.abort())
        if isCutOnTheWay { world.partition("client", "server") }
        try world.run(for: .seconds(60))
        world.heal()
        try world.run(for: .seconds(60))
        #expect(!server.closed.isCompleted)
        if sendsEnd { server.shutdownWrite() } else { server.write("x") }
        #expect(world.failure(of: server.closed).hasPrefix("read ECONNRESET"))
    }

    @Test("connections that break during a partition live on; those of which one side learns, end on both")
    func breakingParted() throws {
        for isOneWay in [false, true] {
            let world = World(seed: 1)
            try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            let connection = try world.run(
                until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
            connection.write("x")
            _ = try world.run(until: connection.read())
            if isOneWay {
                world.partition(from: "server", to: "client")
            } else {
                world.partition("server", "client")
            }
            world.link("client", "server").breakConnections()
            try world.run(for: .seconds(1))
            #expect(world.host("server").loop.statistics.connections == (isOneWay ? 0 : 1))
            world.heal()
            #expect(!connection.closed.isCompleted)
            if isOneWay {
                connection.shutdownWrite()
                #expect(world.failure(of: connection.closed).hasPrefix("read ECONNRESET"))
                continue
            }
            connection.write("y")
            #expect(try world.run(until: connection.read()) == Data("y".utf8))
            connection.shutdownWrite()
            #expect(try world.run(until: connection.readToEnd()).isEmpty)
            connection.close()
        }
    }

    @Test(
        "a stream that breaks has no hole, also if a partition meets the reset before it arrives",
        arguments: [false, true], [false, true])
    func breakingMidStream(isHeld: Bool, isOneWay: Bool) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        var received = Data()
        try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.forEachChunk { received.append($0) }
            }
            server.onConnectionError = { _ in }
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        if isHeld { world.hold("client", "server") }
        connection.write("1").ignoreFailure()
        try world.run(for: .milliseconds(1))
        world.link("client", "server").breakConnections()
        try world.run(for: .milliseconds(1))
        if isOneWay {
            world.partition(from: "client", to: "server")
        } else {
            world.partition("client", "server")
        }
        try world.run(for: .seconds(1))
        world.heal()
        connection.write("2").ignoreFailure()
        try world.run(for: .seconds(60))
        #expect(received.isEmpty || received == Data("1".utf8) || received == Data("12".utf8))
        #expect(connection.closed.isCompleted)
        #expect(world.host("server").loop.statistics.connections == 0)
    }

    @Test("a host that was off resets an old connection whose peer tells its end")
    func endAfterCrash() throws {
        let world = World(seed: 1)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        world.host("server").crash()
        world.host("server").restart()
        try world.run(for: .seconds(60))
        #expect(!connection.closed.isCompleted)
        connection.shutdownWrite()
        #expect(world.failure(of: connection.closed).hasPrefix("read ECONNRESET"))
    }

    @Test("isolated hosts reach each other and nobody else, until all is healed")
    func isolated() throws {
        let world = World(seed: 1)
        for name in ["a", "b", "c"] { try world.addHost(name, Programs.echo) }
        world.isolate("a", "b")
        let inside = Programs.ask(world.host("a"), "b")
        let outside = Programs.ask(world.host("c"), "b").timeout(after: .seconds(3))
        #expect(try world.run(until: inside) == Data("hello".utf8))
        #expect(throws: FutureError.timedOut(after: .seconds(3))) { try world.run(until: outside) }
        world.heal()
        #expect(try world.run(until: Programs.ask(world.host("c"), "b")) == Data("hello".utf8))
    }
}
