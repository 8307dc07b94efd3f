import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct PathTests {
    @Test("each packet has a header of 28 bytes, and so has the report that a datagram was refused")
    func headers() throws {
        let hosts = try DatagramHosts(latency: .constant(.zero))
        (hosts.link.bandwidth, hosts.link.mtu) = (64, 78)
        hosts.listen()
        // Three packets for 144 bytes.
        hosts.outgoing.send(Data(count: 144))
        try hosts.world.run(until: { hosts.heard.count == 1 })
        #expect(hosts.world.now == .nanoseconds((144 + 3 * 28) * 1_000_000_000 / 64))
        try hosts.world.run(until: hosts.incoming.close())
        let (answer, start) = (hosts.outgoing.receive(), hosts.world.now)
        hosts.outgoing.send(Data(count: 36))
        #expect(hosts.world.failure(of: answer).hasPrefix("send ECONNREFUSED"))
        #expect(hosts.world.now - start == .nanoseconds((36 + 2 * 28) * 1_000_000_000 / 64))
    }

    @Test(
        "each packet and each copy has a latency of its own, and a datagram that of the last of its packets")
    func latencies() throws {
        func mean(size: Int, duplication: Double = 0) throws -> Double {
            let hosts = try DatagramHosts(latency: .uniform(.zero...(.milliseconds(24))))
            hosts.link.mtu = 1028
            hosts.link.datagramDuplication = duplication
            hosts.listen()
            try hosts.send(1000, size: size)
            let late = zip(hosts.numbers, hosts.times).map { $1 - .milliseconds($0) }
            return late.reduce(.zero, +) / late.count / .milliseconds(1)
        }
        let (one, two, four) = (try mean(size: 1000), try mean(size: 1001), try mean(size: 4000))
        #expect((11.4...12.6).contains(one) && (15.4...16.6).contains(two) && (18.7...19.7).contains(four))
        // The copy comes with the later one of two.
        let copied = try mean(size: 1000, duplication: 1)
        #expect((13.4...14.6).contains(copied), "\(copied)")
    }

    @Test("connections within a host have no latency, and what is sent before the first limit takes no time")
    func withinHost() throws {
        let world = World(seed: 1)
        world.latency = .constant(.seconds(1))
        let host = try world.addHost("server", Programs.echo)
        #expect(try world.run(until: Programs.ask(host, "127.0.0.1")) == Data("hello".utf8))
        #expect(world.now == .zero)
    }
}
