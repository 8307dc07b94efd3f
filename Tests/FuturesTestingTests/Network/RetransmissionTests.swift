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
        for limit in [.seconds(20), nil] as [Duration?] { try connection.setUserTimeout(limit) }
        // The bytes arrive, and their acknowledgement does not.
        world.partition(from: "server", to: "client")
        connection.write("x")
        let start = world.now
        #expect(world.failure(of: connection.read()).hasPrefix("read ETIMEDOUT"))
        #expect((.seconds(924)...(.seconds(926))).contains(world.now - start))
    }

    @Test("a connection that closes tells how many bytes were not acknowledged, though they came")
    func unacknowledged() throws {
        let world = World(seed: 1)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        connection.write("heard")
        _ = try world.run(until: connection.read())
        world.partition(from: "server", to: "client")
        connection.write("unheard")
        try world.run(for: .milliseconds(100))
        try connection.setUserTimeout(.seconds(300))
        let error = #expect(throws: StreamError.self) { try world.run(until: connection.close()) }
        #expect("\(error!)".contains("7 bytes"), "\(error!)")
    }

    @Test("what a host has not sent when it crashes never comes, though the connection was closed before")
    func crashed() throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        let server = try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.readToEnd().flatMap { _ in connection.write("answer") }
            }
            server.onConnectionError = { _ in }
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        connection.shutdownWrite()
        try world.run(for: .milliseconds(15))
        #expect(server.loop.statistics.connections == 0)
        server.crash()
        try world.run(for: .seconds(1))
        server.restart()
        let answer = connection.readToEnd()
        try world.run(for: .seconds(20))
        #expect(!answer.isCompleted)
        connection.abort()
        answer.ignoreFailure()
    }

    @Test("what the system has given up never comes, though its path only held it back")
    func givenUp() throws {
        let world = World(seed: 1)
        var received = Data()
        try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.forEachChunk { received += $0 }
            }
            server.onConnectionError = { _ in }
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        world.hold("client", "server")
        connection.write("late")
        let closed = connection.close()
        try world.run(for: .seconds(2000))
        #expect(closed.isCompleted)
        closed.ignoreFailure()
        world.release("client", "server")
        try world.run(for: .seconds(2000))
        #expect(received == Data())
    }
}
