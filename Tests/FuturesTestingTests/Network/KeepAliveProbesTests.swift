import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct KeepAliveProbesTests {
    @Test("a connection that only waits notices by its probes that the peer is gone, and no earlier")
    func noticed() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connections = try (0..<2).map { _ in
            try world.run(until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        }
        try connections[0].setKeepAlive(after: .seconds(60), every: .seconds(5), probes: 3)
        let reads = connections.map { $0.read() }
        try world.run(for: .seconds(600))
        #expect(!reads[0].isCompleted)
        server.crash()
        let start = world.now
        #expect(world.failure(of: reads[0]).hasPrefix("read ETIMEDOUT"))
        #expect((.seconds(15)...(.seconds(75))).contains(world.now - start))
        try world.run(for: .seconds(3600))
        #expect(!reads[1].isCompleted)
        connections[1].abort()
    }

    @Test("a probe of a connection that a restarted host does not know resets it")
    func reset() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        try connection.setKeepAlive(after: .seconds(60))
        try world.run(for: .seconds(1))
        server.restart()
        #expect(world.failure(of: connection.read()).hasPrefix("read ECONNRESET"))
    }

    @Test("each sign of the peer starts the time of silence anew, until the last probe has no answer")
    func silence() throws {
        for (partedUntil, crashAt, endsAt) in [(0, 10, 75), (0, 130, 195), (62, 70, 140)] {
            let world = World(seed: 1)
            world.latency = .constant(.zero)
            let server = try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            let connection = try world.run(
                until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
            try connection.setKeepAlive(after: .seconds(60), every: .seconds(5), probes: 3)
            if partedUntil > 0 {
                world.partition("client", "server")
                try world.run(for: .seconds(partedUntil))
                world.heal()
            }
            try world.run(for: .seconds(crashAt) - world.now)
            server.crash()
            #expect(world.failure(of: connection.read()).hasPrefix("read ETIMEDOUT"))
            #expect(world.now == .seconds(endsAt))
        }
    }

    @Test("bytes of the peer put the next probe off, and a socket that no longer probes notices nothing")
    func bytes() throws {
        let world = World(seed: 1)
        world.latency = .constant(.zero)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connections = try (0..<2).map { _ in
            try world.run(until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        }
        for connection in connections {
            try connection.setKeepAlive(after: .seconds(60), every: .seconds(5), probes: 3)
        }
        try connections[1].setKeepAlive(after: nil)
        let reads = try connections.map { connection in
            connection.write("x")
            _ = try world.run(until: connection.read())
            return connection.read()
        }
        try world.run(for: .seconds(30))
        connections[0].write("x")
        _ = try world.run(until: reads[0])
        server.crash()
        #expect(world.failure(of: connections[0].read()).hasPrefix("read ETIMEDOUT"))
        #expect(world.now == .seconds(30 + 75))
        try world.run(for: .seconds(3600))
        #expect(!reads[1].isCompleted)
        connections[1].abort()
    }
}
