import FoundationEssentials
import Testing
import UVFutures

@testable import FuturesTesting

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

    @Test("all times of a range are drawn, with both of its ends, however wide it is")
    func ends() {
        var choices: Choices? = Choices(seed: 1)
        let narrow = World.Latency.uniform(.nanoseconds(1)...(.nanoseconds(3)))
        #expect(Set((0..<100).map { _ in narrow.draw(&choices) }) == [1, 2, 3])
        #expect(World.Latency.uniform(.seconds(1)...(.seconds(1))).draw(&choices) == 1_000_000_000)
        let end = Duration.seconds(Int64.max)
        for least in [Duration.zero, .nanoseconds(1), .seconds(1)] {
            let drawn = (0..<10).map { _ in World.Latency.uniform(least...end).draw(&choices) }
            #expect(drawn.max()! > 1 << 60)
        }
        let long = (0..<10).map { _ in
            World.Latency.exponential(least: .seconds(1), mean: end).draw(&choices)
        }
        #expect(long.contains(.max) && long.allSatisfy { $0 > 1_000_000_000 })
    }

    @Test("without a seed each message takes the least time")
    func unseeded() {
        var none: Choices?
        #expect(World.Latency.constant(.seconds(1)).draw(&none) == 1_000_000_000)
        #expect(World.Latency.uniform(.seconds(1)...(.seconds(2))).draw(&none) == 1_000_000_000)
        #expect(World.Latency.exponential(least: .seconds(1), mean: .seconds(2)).draw(&none) == 1_000_000_000)
    }
}
