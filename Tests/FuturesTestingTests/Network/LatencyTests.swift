import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct LatencyTests {
    /// The times that lines take to a server and back.
    private func roundTrips(_ latency: World.Latency, _ count: Int) throws -> [Duration] {
        let world = World(seed: 3)
        world.latency = latency
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        defer { connection.close() }
        return try (0..<count).map { _ in
            let start = world.now
            connection.write("x")
            _ = try world.run(until: connection.read())
            return world.now - start
        }
    }

    @Test("a constant latency is constant, and a uniform one is spread over its range")
    func ranges() throws {
        #expect(try Set(roundTrips(.constant(.milliseconds(5)), 10)) == [.milliseconds(10)])
        let times = try roundTrips(.uniform(.milliseconds(10)...(.milliseconds(20))), 200)
        #expect(times.allSatisfy { $0 >= .milliseconds(20) && $0 <= .milliseconds(40) })
        #expect(times.min()! < .milliseconds(24))
        #expect(times.max()! > .milliseconds(36))
    }

    @Test("an exponential latency is never below its least, and has its mean")
    func exponential() throws {
        let times = try roundTrips(.exponential(least: .milliseconds(10), mean: .milliseconds(5)), 500)
        #expect(times.allSatisfy { $0 >= .milliseconds(20) })
        let mean = times.reduce(.zero, +) / times.count
        #expect(mean > .milliseconds(28) && mean < .milliseconds(32), "\(mean)")
    }
}
