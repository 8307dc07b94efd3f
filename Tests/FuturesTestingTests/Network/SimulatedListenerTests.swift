import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SimulatedListenerTests {
    @Test("a request that finds the backlog full is repeated after a second, three, and seven")
    func backlog() throws {
        let world = World(seed: 1)
        world.latency = .constant(.zero)
        let server = try world.addHost("server")
        let listener = try TCPListener(
            host: "0.0.0.0", port: 7, options: ListenOptions(backlog: 0), on: server.loop)
        let client = try world.addHost("client")
        let connections = (0..<2).map { _ in
            TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop)
        }
        try world.run(for: .seconds(2))
        #expect(connections.count { $0.isCompleted } == 1)
        _ = try world.run(until: listener.accept())
        try world.run(until: { connections.allSatisfy { $0.isCompleted } })
        #expect(world.now == .seconds(3))
        #expect(throws: Never.self) { for connection in connections { try connection.result?.get().abort() } }
    }

    @Test("a listener that is closed resets what waits, and refuses what comes")
    func closed() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server")
        let listener = try TCPListener(host: "0.0.0.0", port: 7, on: server.loop)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        listener.close()
        #expect(world.failure(of: connection.read()).hasPrefix("read ECONNRESET"))
        #expect(
            world.failure(of: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
                == "connect ECONNREFUSED 10.0.0.1:7: connection refused")
    }
}
