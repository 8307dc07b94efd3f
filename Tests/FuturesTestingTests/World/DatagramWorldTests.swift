import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

/// What befalls a world befalls its datagrams, too.
struct DatagramWorldTests {
    // MARK: Partitions

    @Test("a partition loses what is sent, and what is on its way")
    func partition() throws {
        let hosts = try DatagramHosts()
        hosts.listen()
        hosts.outgoing.send("on its way")
        try hosts.world.run(for: .milliseconds(5))
        hosts.world.partition("client", "server")
        try hosts.world.run(for: .milliseconds(1))
        try hosts.say("parted")
        hosts.world.heal()
        try hosts.say("healed")
        #expect(hosts.texts == ["healed"])
        // Nobody tells the sender.
        #expect(hosts.outgoing.statistics.sent == 3 && hosts.outgoing.statistics.unreachable == 0)
    }

    @Test("a partition of one way lets the other way pass")
    func oneWay() throws {
        let hosts = try DatagramHosts()
        hosts.world.partition(from: "server", to: "client")
        let asked = hosts.incoming.receive()
        hosts.outgoing.send("asked")
        let source = try hosts.world.run(until: asked).source
        hosts.incoming.send("lost", to: source)
        try hosts.world.run(for: .seconds(1))
        hosts.world.heal("client", "server")
        hosts.incoming.send("answered", to: source)
        #expect(try hosts.world.run(until: hosts.outgoing.receive()).bytes == Data("answered".utf8))
    }

    @Test("what is held arrives when it is released, in order")
    func held() throws {
        let hosts = try DatagramHosts()
        hosts.listen()
        hosts.world.hold("client", "server")
        try hosts.send(20)
        #expect(hosts.heard.isEmpty)
        hosts.world.release("client", "server")
        try hosts.world.run(for: .zero)
        #expect(hosts.numbers == Array(0..<20))
    }

    @Test("a partition loses what was held")
    func heldAndParted() throws {
        let hosts = try DatagramHosts()
        hosts.listen()
        hosts.world.hold("client", "server")
        try hosts.say("held")
        hosts.world.partition("client", "server")
        hosts.world.heal()
        try hosts.say("healed")
        #expect(hosts.texts == ["healed"])
    }

    @Test("a program that releases what was held hears in a later turn what came of it")
    func releasedByProgram() throws {
        let hosts = try DatagramHosts()
        try hosts.world.run(until: hosts.incoming.close())
        hosts.world.hold("client", "server")
        var reports: [String] = []
        hosts.outgoing.onUnreachable { reports.append("\($0)") }
        hosts.outgoing.forEachDatagram { _, _ in }.ignoreFailure()
        hosts.outgoing.send("x")
        hosts.world.schedule(after: .milliseconds(15)) {
            hosts.world.release("client", "server")
            hosts.world.hold("client", "server")
        }
        hosts.client.loop.schedule(after: .seconds(1)) {
            hosts.world.release("client", "server")
            #expect(reports.isEmpty)
        }
        try hosts.world.run(for: .seconds(1))
        #expect(reports == ["send ECONNREFUSED 10.0.0.1:7: connection refused"])
        hosts.world.end()
    }

    @Test("a world that ends while datagrams are held and on their way leaves nothing")
    func leaks() throws {
        weak var server: SimulatedHost?
        weak var socket: UDPSocket?
        do {
            let hosts = try DatagramHosts()
            (server, socket) = (hosts.server, hosts.incoming)
            hosts.world.hold("client", "server")
            try hosts.say("held")
            hosts.outgoing.send("on its way")
            try hosts.world.run(for: .milliseconds(5))
        }
        #expect(server == nil && socket == nil)
    }

    // MARK: The life of a host

    /// A world of a server that starts with a socket on port 7, and a client with one that is connected to it.
    private func withServer(
        _ body: (World, SimulatedHost, UDPSocket, _ heard: () -> [String]) throws -> Void
    ) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        var heard: [String] = []
        let server = try world.addHost("server") { host in
            let socket = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: host.loop)
            socket.forEachDatagram { bytes, _ in
                heard.append("\(host.startCount) \(String(decoding: Data(copying: bytes), as: UTF8.self))")
            }.ignoreFailure()
        }
        let client = try world.addHost("client")
        let socket = try UDPSocket.connect(to: SocketAddress(host: "10.0.0.1", port: 7), on: client.loop)
        try body(world, server, socket) { heard }
        world.end()
    }

    @Test("a host that has crashed says nothing, and takes datagrams when it has been restarted")
    func crash() throws {
        try withServer { world, server, socket, heard in
            socket.send("on its way")
            try world.run(for: .milliseconds(5))
            server.crash()
            try world.run(for: .seconds(1))
            socket.send("lost")
            try world.run(for: .seconds(10))
            #expect(socket.statistics.unreachable == 0)
            server.restart()
            socket.send("taken")
            try world.run(for: .seconds(1))
            #expect(heard() == ["2 taken"])
        }
    }

    @Test("the system of a program that was killed refuses datagrams")
    func kill() throws {
        try withServer { world, server, socket, heard in
            server.kill()
            socket.send("x")
            #expect(
                world.failure(of: socket.receive()) == "send ECONNREFUSED 10.0.0.1:7: connection refused")
            server.restart()
            socket.send("taken")
            try world.run(for: .seconds(1))
            #expect(heard() == ["2 taken"])
        }
    }

    @Test("datagrams wait for a program that stands still, as far as the buffer has room")
    func pause() throws {
        try withServer { world, server, socket, heard in
            server.pause()
            for number in 0..<300 {
                socket.send("\(number)")
                try world.run(for: .milliseconds(1))
            }
            try world.run(for: .seconds(10))
            #expect(heard().isEmpty)
            server.resume()
            try world.run(for: .zero)
            #expect(heard().count == 276)
            #expect(heard().last == "1 275")
        }
    }

    @Test("a program that stands still hears late that nobody is there")
    func lateReport() throws {
        let hosts = try DatagramHosts()
        try hosts.world.run(until: hosts.incoming.close())
        let answer = hosts.outgoing.receive()
        hosts.outgoing.send("x")
        try hosts.world.run(for: .milliseconds(5))
        hosts.client.pause()
        try hosts.world.run(for: .seconds(5))
        #expect(!answer.isCompleted)
        hosts.client.resume()
        try hosts.world.run(for: .zero)
        #expect(answer.isCompleted)
        #expect(hosts.world.failure(of: answer).hasPrefix("send ECONNREFUSED"))
    }

    @Test("a host that is out of descriptors makes no socket, until one is closed")
    func descriptors() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.maxDescriptors = 1
        let socket = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: host.loop)
        for port in [0, 7] {
            let error = #expect(throws: SystemError.self) {
                try UDPSocket.bind(host: "0.0.0.0", port: port, on: host.loop)
            }
            #expect("\(error!)" == "bind EMFILE 0.0.0.0:\(port): too many open files")
        }
        try world.run(until: socket.close())
        let again = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: host.loop)
        host.maxDescriptors = 2
        // A socket that was refused has taken none.
        #expect(throws: SystemError.self) { try UDPSocket.bind(host: "0.0.0.0", port: 7, on: host.loop) }
        let other = try UDPSocket.bind(host: "0.0.0.0", port: 8, on: host.loop)
        #expect(again.isOpen && other.isOpen)
    }

    // MARK: Groups

    @Test(
        "a group gets what any host sends to it, as long as it is joined",
        arguments: ["239.1.2.3", "ff05::3"])
    func groups(address: String) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        let isIPv6 = address.contains(":")
        let sockets = try ["a", "b", "c"].map { name in
            try UDPSocket.bind(host: isIPv6 ? "::" : "0.0.0.0", port: 7, on: world.addHost(name).loop)
        }
        let group = try SocketAddress(host: address, port: 7)
        try sockets[1].join(address)
        let received = sockets[1].receive()
        sockets[0].send("hello", to: group)
        let header = try world.run(until: received).header
        #expect(header.source?.host == (isIPv6 ? "fd00::1" : "10.0.0.1") && header.source?.port == 7)
        #expect(header.destination == group)
        // As on Linux, only IPv4 tells the address of this machine.
        #expect(header.localAddress?.host == (isIPv6 ? nil : "10.0.0.2"))
        try sockets[1].leave(address)
        try sockets[2].join(address, source: isIPv6 ? "fd00::2" : "10.0.0.2")
        let last = sockets[2].receive()
        for sender in 0..<2 {
            sockets[sender].send("from \(sender)", to: group)
            try world.run(for: .seconds(1))
        }
        #expect(try world.run(until: last).bytes == Data("from 1".utf8))
        #expect(sockets.map(\.statistics.received) == [0, 1, 1])
    }

    @Test("with a time to live of zero, datagrams to a group stay on their host")
    func groupOfHost() throws {
        let world = World(seed: 1)
        let sockets = try ["a", "b"].map { name in
            try UDPSocket.bind(host: "0.0.0.0", port: 7, on: world.addHost(name).loop)
        }
        for socket in sockets { try socket.join("239.1.2.3") }
        try sockets[0].setMulticastTimeToLive(0)
        let received = sockets.map { $0.receive() }
        sockets[0].send("x", to: try SocketAddress(host: "239.1.2.3", port: 7))
        try world.run(for: .seconds(1))
        #expect(received.map(\.isCompleted) == [true, false])
    }

    @Test("a broadcast reaches the port on all hosts")
    func broadcast() throws {
        let world = World(seed: 1)
        let sockets = try ["a", "b", "c"].map { name in
            try UDPSocket.bind(host: "0.0.0.0", port: 7, on: world.addHost(name).loop)
        }
        try sockets[0].setBroadcast(true)
        let received = sockets.map { $0.receive() }
        sockets[0].send("x", to: try SocketAddress(host: "255.255.255.255", port: 7))
        for future in received { #expect(try world.run(until: future).source?.host == "10.0.0.1") }
    }

    // MARK: Seeds

    @Test("the same seed gives the same trace, another one another")
    func same() throws {
        func run(_ seed: UInt64) throws -> (UInt64, [Int]) {
            let hosts = try DatagramHosts(
                seed: seed, latency: .exponential(least: .zero, mean: .milliseconds(9)))
            hosts.link.datagramLoss = 0.2
            hosts.link.datagramDuplication = 0.2
            hosts.link.datagramReordering = 0.2
            hosts.listen()
            try hosts.send(200)
            return (hosts.world.traceHash, hosts.numbers)
        }
        let (one, again, other) = (try run(1), try run(1), try run(2))
        #expect(one == again)
        #expect(one.0 != other.0 && one.1 != other.1)
    }

    private struct Lost: Error { let count: Int }

    /// A client that asks ten questions, one each 500 ms, and perhaps asks again what nobody has answered.
    private static func ask(_ world: World, repeating: Bool) throws {
        try world.addHost("server") { host in
            let socket = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: host.loop)
            socket.forEachDatagram { bytes, header in socket.send(bytes, to: header.source) }.ignoreFailure()
        }
        let client = try world.addHost("client")
        let socket = try UDPSocket.connect(to: SocketAddress(host: "10.0.0.1", port: 7), on: client.loop)
        var (asked, open) = (0, [UInt8]())
        socket.forEachDatagram { bytes, _ in
            let answer = Data(copying: bytes)[0]
            open.removeAll { $0 == answer }
        }.ignoreFailure()
        client.loop.repeat(every: .milliseconds(500)) {
            var questions = repeating ? open : []
            if asked < 10 {
                questions.append(UInt8(asked))
                open.append(UInt8(asked))
                asked += 1
            }
            for question in questions { socket.send([question]) }
        }.future.ignoreFailure()
        var mix = World.FaultMix()
        mix.kinds = [.unreliable]
        world.injectFaults(mix, until: .seconds(10))
        try world.run(for: .seconds(20))
        guard asked == 10, open.isEmpty else { throw Lost(count: open.count) }
    }

    @Test("a client that asks again gets all answers of an unreliable network")
    func repeating() throws {
        try World.explore(seeds: 0..<100) { try Self.ask($0, repeating: true) }
    }

    @Test("a client that does not ask again is found")
    func notRepeating() throws {
        do {
            try World.explore(seeds: 0..<100) { try Self.ask($0, repeating: false) }
            Issue.record("nothing was found")
        } catch let failure as ExplorationFailure {
            let report = try #require(failure.reports.first)
            #expect(report.error is Lost)
            #expect(report.faults.count == 1 && report.faults[0].kind == .unreliable)
            #expect("\(failure)".contains(".unreliable("))
        }
    }
}
