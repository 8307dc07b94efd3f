import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct RetransmissionTests {
    @Test(
        "what was lost is sent again after pauses that double, so that it comes late after a repair",
        arguments: [(50, 200), (300, 600), (1000, 1400), (10_000, 12_600)])
    func pauses(repairedAt: Int, arrivesAt: Int) throws {
        let world = World(seed: 1)
        world.latency = .constant(.zero)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        world.partition(from: "client", to: "server")
        connection.write("x")
        let start = world.now
        try world.run(for: .milliseconds(repairedAt))
        world.heal("client", "server")
        #expect(try world.run(until: connection.read()) == Data("x".utf8))
        #expect(world.now - start == .milliseconds(arrivesAt))
        connection.close()
    }

    @Test("without an answer for a quarter of an hour the system gives the connection up")
    func patience() throws {
        let world = World(seed: 1)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        // The bytes arrive, and their acknowledgement does not.
        world.partition(from: "server", to: "client")
        connection.write("x")
        let start = world.now
        #expect(world.failure(of: connection.read()).hasPrefix("read ETIMEDOUT"))
        #expect((.seconds(924)...(.seconds(926))).contains(world.now - start))
    }
}
