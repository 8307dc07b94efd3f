import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct ConnectAttemptTests {
    @Test("a request without an answer is sent seven times, and given up after 127 seconds as on Linux")
    func unanswered() throws {
        for repaired in [false, true] {
            let world = World(seed: 1)
            world.latency = .constant(.zero)
            try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            world.partition("client", "server")
            let connection = TCPConnection.connect(
                host: "10.0.0.1", port: 7, timeout: .seconds(1000), on: client.loop)
            // The last request leaves after 63 seconds.
            try world.run(for: .milliseconds(62_999))
            if repaired { world.heal() }
            let failure = world.failure(of: connection)
            #expect(
                failure
                    == (repaired ? "nothing fails" : "connect ETIMEDOUT 10.0.0.1:7: connection timed out"))
            #expect(world.now == .seconds(repaired ? 63 : 127))
        }
    }

    @Test("an address that no host has is told after three seconds")
    func unreachable() throws {
        let world = World(seed: 1)
        let client = try world.addHost("client")
        let connection = TCPConnection.connect(host: "10.0.9.9", port: 7, on: client.loop)
        #expect(
            world.failure(of: connection) == "connect EHOSTUNREACH 10.0.9.9:7: host is unreachable")
        #expect(world.now == .seconds(3))
    }

    @Test("a handshake takes the time of the way there and back, whatever the bandwidth, and a refusal, too")
    func duration() throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        world.link("client", "server").bandwidth = 1
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        #expect(world.now == .milliseconds(20))
        #expect(
            world.failure(of: TCPConnection.connect(host: "10.0.0.1", port: 8, on: client.loop))
                == "connect ECONNREFUSED 10.0.0.1:8: connection refused")
        #expect(world.now == .milliseconds(40))
        connection.abort()
    }

    @Test(
        "a connect that is cancelled makes no connection, and keeps no place in the backlog",
        arguments: [5, 15])
    func cancelled(milliseconds: Int) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        let server = try world.addHost("server")
        let listener = try TCPListener(
            host: "0.0.0.0", port: 7, options: ListenOptions(backlog: 0), on: server.loop)
        let client = try world.addHost("client")
        let cancelled = TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop)
        try world.run(for: .milliseconds(milliseconds))
        cancelled.cancel()
        try world.run(for: .milliseconds(100))
        let start = world.now
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        #expect(world.now - start == .milliseconds(20))
        let accepted = try world.run(until: listener.accept())
        #expect(accepted.peerAddress?.port == connection.localAddress?.port)
        #expect(client.loop.statistics.connections == 1 && server.loop.statistics.connections == 1)
        connection.abort()
    }

    @Test("a connection is made once, though the request is repeated while the answer is on its way")
    func once() throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(800))
        let server = try world.addHost("server")
        var accepted = 0
        _ = try TCPServer.listen(host: "0.0.0.0", port: 7, on: server.loop, owning: { _ in accepted += 1 })
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        #expect(world.now == .milliseconds(1600))
        try world.run(for: .seconds(300))
        #expect(accepted == 1)
        connection.abort()
    }

    @Test("a virtual loop has no way out, whatever address a socket has")
    func noWayOut() throws {
        let loop = EventLoop.virtual()
        for (localHost, code) in [(nil, "ENETUNREACH"), ("127.0.0.1", "EHOSTUNREACH")] {
            let connection = TCPConnection.connect(
                host: "192.0.2.1", port: 7, localHost: localHost, on: loop)
            let start = loop.now
            let error = #expect(throws: SystemError.self) { try loop.run(until: connection) }
            #expect("\(error!)".hasPrefix("connect \(code) "), "\(error!)")
            #expect(loop.now == start)
        }
        loop.shutdown()
    }
}
