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
}
