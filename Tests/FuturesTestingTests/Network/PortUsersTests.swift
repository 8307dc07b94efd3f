import FoundationEssentials
import Testing
import UVFutures

@testable import FuturesTesting

/// What remains of a connection that was closed (TIME_WAIT).
struct PortUsersTests {
    private let world = World(seed: 1)
    private let server, client: SimulatedHost
    private let listener: TCPListener

    init() throws {
        world.latency = .constant(.zero)
        server = try world.addHost("server")
        client = try world.addHost("client")
        listener = try TCPListener(host: "0.0.0.0", port: 7, on: server.loop)
    }

    private func ask(_ target: String, from host: SimulatedHost, localPort: Int = 0) -> Future<TCPConnection>
    {
        TCPConnection.connect(
            host: target, port: 7, localHost: localPort > 0 ? "0.0.0.0" : nil, localPort: localPort,
            on: host.loop)
    }

    /// Returns both ends of a new connection.
    private func connect(_ target: String, from host: SimulatedHost, localPort: Int = 0) throws -> (
        TCPConnection, TCPConnection
    ) {
        let connection = try world.run(until: ask(target, from: host, localPort: localPort))
        return (connection, try world.run(until: listener.accept()))
    }

    /// Closes both ends, the first one first.
    private func close(_ ends: (TCPConnection, TCPConnection)) throws {
        ends.0.shutdownWrite()
        try world.run(for: .milliseconds(1))
        try world.run(until: ends.1.close())
        try world.run(until: ends.0.close())
    }

    private let inUse = "connect EADDRNOTAVAIL 10.0.0.1:7: address not available"

    @Test("on the loopback, two addresses are used again after a second, as on Linux")
    func loopback() throws {
        try close(connect("127.0.0.1", from: server, localPort: 40))
        let end = world.now
        func again() -> String {
            world.failure(of: ask("127.0.0.1", from: server, localPort: 40).map { $0.abort() })
        }
        #expect(again() == "connect EADDRNOTAVAIL 127.0.0.1:7: address not available")
        try world.run(for: .milliseconds(999) - (world.now - end))
        #expect(again().hasPrefix("connect EADDRNOTAVAIL"))
        try world.run(for: .seconds(1) - (world.now - end))
        #expect(again() == "nothing fails")
    }

    @Test("between hosts, two addresses are used again after a minute, unless the peer has reset them")
    func hosts() throws {
        try close(connect("10.0.0.1", from: client, localPort: 40))
        let end = world.now
        func again() -> String {
            world.failure(of: ask("10.0.0.1", from: client, localPort: 40).map { $0.abort() })
        }
        #expect(again() == inUse)
        try world.run(for: .milliseconds(59_999) - (world.now - end))
        #expect(again() == inUse)
        try world.run(for: .seconds(60) - (world.now - end))
        let ends = try connect("10.0.0.1", from: client, localPort: 40)
        // Bytes that come to the closed end reset the other, and nothing remains.
        try world.run(until: ends.0.close())
        ends.1.write("x").ignoreFailure()
        try world.run(for: .milliseconds(1))
        #expect(again() == "nothing fails")
    }

    @Test("nobody listens on the port of what remains, unless the peer has reset it")
    func listening() throws {
        for isReset in [false, true] {
            let ends = try connect("10.0.0.1", from: client)
            let port = try #require(ends.0.localAddress?.port)
            func listen() throws { try TCPListener(host: "0.0.0.0", port: port, on: client.loop).close() }
            if isReset {
                try world.run(until: ends.0.close())
                ends.1.write("x").ignoreFailure()
                try world.run(for: .milliseconds(1))
            } else {
                try close(ends)
                let end = world.now
                #expect(throws: SystemError.self) { try listen() }
                try world.run(for: .milliseconds(59_999) - (world.now - end))
                #expect(throws: SystemError.self) { try listen() }
                try world.run(for: .seconds(60) - (world.now - end))
            }
            #expect(throws: Never.self) { try listen() }
        }
    }

    @Test("a port is in use until the last of its sockets is closed")
    func shared() throws {
        let address = try SocketAddress(host: "10.0.0.1", port: 40)
        var users = PortUsers()
        let all = (0..<3).map { _ in users.add(address, shares: true) }
        for user in all {
            #expect(users.isInUse(40))
            users.close(user, remains: false, at: 0)
        }
        #expect(!users.isInUse(40) && !users.isInUse(41))
    }
}
