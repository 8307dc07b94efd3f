import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import EchoServer
@testable import Heartbeat
@testable import PortForwarder

/// The examples' own sources in simulated worlds.
struct WorldTests {
    /// Sends `text` to `host`, and completes with all that comes back.
    private static func send(_ text: Data, to host: String, from client: SimulatedHost) -> Future<Data> {
        TCPConnection.connect(host: host, port: 7, on: client.loop).flatMap { connection in
            connection.write(text)
            connection.shutdownWrite()
            return connection.readToEnd().always { connection.close() }
        }
    }

    private static func addServer(_ arguments: String..., to world: World) throws {
        let server = try EchoServer.parse(["--host", "0.0.0.0", "--port", "7"] + arguments)
        let counts = Counts()
        try world.addHost("server") { host in _ = try server.serve(on: host.loop, counts) }
    }

    private static func addForwarder(to world: World) throws {
        let forwarder = try PortForwarder.parse(["server:7", "--host", "0.0.0.0", "--port", "7"])
        try world.addHost("forwarder") { host in try forwarder.serve(on: host.loop).ignoreFailure() }
    }

    private static let text = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) })

    @Test("EchoServer sends back what it is sent, all of it or nothing that is wrong, whatever happens")
    func echoServer() throws {
        try World.explore(seeds: 0..<100) { world in
            try Self.addServer("--grace", "3", to: world)
            let client = try world.addHost("client")
            var mix = World.FaultMix()
            mix.kinds.removeAll { [.outOfDescriptors, .crash].contains($0) }
            world.injectFaults(mix, until: .seconds(20))
            var answers: [Future<Data>] = []
            for _ in 0..<20 {
                try world.run(for: .seconds(1))
                answers.append(Self.send(Self.text, to: "server", from: client).ignoreFailure())
            }
            // A client that only reads does not notice that its server is gone.
            try world.run(for: .seconds(60))
            for case .success(let data)? in answers.map(\.result) where data != Self.text {
                throw WrongAnswer()
            }
            let last = try world.run(until: Self.send(Self.text, to: "server", from: client))
            guard last == Self.text else { throw WrongAnswer() }
        }
    }

    @Test("EchoServer sends back datagrams, too")
    func echoDatagrams() throws {
        let world = World(seed: 1)
        try Self.addServer("--udp", to: world)
        let client = try world.addHost("client")
        let answer = UDPSocket.connect(host: "server", port: 7, on: client.loop).flatMap { socket in
            socket.send("hello")
            return socket.receive().always { socket.close() }
        }
        #expect(try world.run(until: answer).bytes == Data("hello".utf8))
    }

    @Test(
        "EchoServer leaves datagrams without an answer that come from where it would be answered",
        arguments: [7, 19, 1023])
    func lowPorts(_ port: Int) throws {
        let world = World(seed: 1)
        try Self.addServer("--udp", to: world)
        let client = try world.addHost("client")
        let socket = try UDPSocket.bind(host: "0.0.0.0", port: port, on: client.loop)
        socket.send("hello", to: try SocketAddress(host: world.host("server").addresses[0], port: 7))
        let answer = socket.receive().ignoreFailure()
        try world.run(for: .seconds(1))
        #expect(!answer.isCompleted)
    }

    @Test("EchoServer and another server that sends datagrams back are silent in the end")
    func echoesOfEchoes() throws {
        let world = World(seed: 1)
        try Self.addServer("--udp", to: world)
        let client = try world.addHost("client")
        let socket = try UDPSocket.bind(host: "0.0.0.0", port: 7007, on: client.loop)
        var count = 0
        socket.forEachDatagram { bytes, header in
            count += 1
            return socket.send(bytes, to: header.source)
        }
        .ignoreFailure()
        socket.send("hello", to: try SocketAddress(host: world.host("server").addresses[0], port: 7))
        try world.run(for: .seconds(60))
        #expect((1000...2000).contains(count))
        let before = count
        try world.run(for: .seconds(60))
        #expect(count == before)
    }

    @Test("Heartbeat finds its peers, misses those that are down, and is not misled by lost datagrams")
    func heartbeat() throws {
        try World.explore(seeds: 0..<30) { world in
            let names = ["a", "b", "c"]
            try world.addNameServer()
            // What each host says of the others.
            var up: [String: Set<String>] = [:]
            var scopes: [FutureScope] = []
            defer { for scope in scopes { scope.cancel() } }
            let beat = try Heartbeat.parse(["--host", "0.0.0.0", "--service", "_health._udp.world.example"])
            for name in names {
                up[name] = []
                try world.names.add(.service(port: 7008, target: name), to: "_health._udp.world.example")
                try world.addHost(name) { host in
                    scopes.append(FutureScope(on: host.loop))
                    try beat.start(in: scopes.last!) { peer, isUp in
                        let other = world.hosts.first { $0.addresses.contains(peer.host) }!.name
                        if isUp { up[name]!.insert(other) } else { up[name]!.remove(other) }
                    }
                }
            }
            for (a, b) in [("a", "b"), ("b", "c"), ("a", "c")] { world.link(a, b).datagramLoss = 0.1 }
            try world.run(for: .seconds(10))
            guard up["a"]!.isSuperset(of: ["b", "c"]) else { throw WrongAnswer() }
            world.isolate("c")
            try world.run(for: .seconds(10))
            guard !up["a"]!.contains("c"), up["a"]!.contains("b") else { throw WrongAnswer() }
            world.heal()
            try world.run(for: .seconds(30))
            guard up["a"]!.contains("c"), up["c"]!.contains("a") else { throw WrongAnswer() }
        }
    }

    @Test("EchoServer ends after a signal, when its connections have ended")
    func echoServerEnds() throws {
        let world = World(seed: 1)
        try Self.addServer("--grace", "3", to: world)
        let client = try world.addHost("client")
        let connection = try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        connection.write("hello")
        #expect(try world.run(until: connection.read()) == Data("hello".utf8))
        world.host("server").send(.terminate)
        #expect(try world.run(until: connection.readToEnd()).isEmpty)
        connection.close()
        try world.run(for: .seconds(4))
        #expect(world.host("server").loop.statistics.connections == 0)
        #expect(throws: ConnectError.self) {
            try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        }
    }

    @Test("PortForwarder passes on each byte and each end, and what breaks one side breaks the other")
    func portForwarder() throws {
        try World.explore(seeds: 0..<100) { world in
            try Self.addServer(to: world)
            try Self.addForwarder(to: world)
            let client = try world.addHost("client")
            var mix = World.FaultMix()
            mix.kinds = [.partition, .hold, .slow, .pause]
            world.injectFaults(mix, until: .seconds(10))
            var answers: [Future<Data>] = []
            for _ in 0..<10 {
                try world.run(for: .seconds(1))
                answers.append(Self.send(Self.text, to: "forwarder", from: client).ignoreFailure())
            }
            try world.run(until: { answers.allSatisfy { $0.isCompleted } })
            for case .success(let data)? in answers.map(\.result) where data != Self.text {
                throw WrongAnswer()
            }
            let last = try world.run(until: Self.send(Self.text, to: "forwarder", from: client))
            guard last == Self.text else { throw WrongAnswer() }
            try world.run(for: .seconds(60))
            let connections = world.host("forwarder").loop.statistics.connections
            guard connections == 0 else { throw LeftOpen(connections: connections) }
        }
    }
}

private struct WrongAnswer: Error {}

private struct LeftOpen: Error { let connections: Int }
