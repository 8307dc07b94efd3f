import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

/// A world of a server, which has a socket on port 7 and keeps what comes to it, and a client that is connected to it.
final class DatagramHosts {
    let world: World
    let server, client: SimulatedHost
    let incoming, outgoing: UDPSocket
    private(set) var heard: [Datagram] = []
    /// When each datagram was heard.
    private(set) var times: [Duration] = []

    init(
        seed: UInt64 = 1, latency: World.Latency = .constant(.milliseconds(10)), faults: [World.Fault]? = nil
    ) throws {
        world = World(seed: seed, faults: faults)
        world.latency = latency
        server = try world.addHost("server")
        client = try world.addHost("client")
        incoming = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: server.loop)
        outgoing = try UDPSocket.connect(to: SocketAddress(host: "10.0.0.1", port: 7), on: client.loop)
    }

    var link: World.Link { world.link("client", "server") }

    func listen() {
        incoming.forEachDatagram { [unowned self] bytes, header in
            heard.append(Datagram(Data(copying: bytes), header))
            times.append(world.now)
        }.ignoreFailure()
    }

    /// Sends `count` datagrams that begin with their numbers, one a millisecond, and waits until all have landed.
    func send(_ count: Int, size: Int = 2) throws {
        for number in 0..<count {
            outgoing.send(
                Data([UInt8(number / 256), UInt8(number % 256)]) + Data(count: size - 2))
            try world.run(for: .milliseconds(1))
        }
        try world.run(for: .seconds(1))
    }

    var numbers: [Int] { heard.map { Int($0.bytes[0]) * 256 + Int($0.bytes[1]) } }

    var texts: [String] { heard.map { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Sends a text, and lets the world go on for a second.
    func say(_ text: String) throws {
        outgoing.send(text)
        try world.run(for: .seconds(1))
    }
}

struct DatagramsTests {
    @Test(
        "a datagram has the addresses of its hosts, and the answer comes from the address that was asked",
        arguments: [
            ("0.0.0.0", "10.0.0.1", "10.0.0.1", "10.0.0.2"), ("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"),
            ("::", "fd00::1", "fd00::1", "fd00::2"), ("fd00::1", "fd00::1", "fd00::1", "fd00::2"),
            ("::", "10.0.0.1", "::ffff:10.0.0.1", "::ffff:10.0.0.2"),
        ])
    func addresses(bound: String, target: String, destination: String, source: String) throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        let server = try world.addHost("server")
        let client = try world.addHost("client")
        let answering = try UDPSocket.bind(host: bound, port: 7, on: server.loop)
        let asking = try UDPSocket.bind(
            host: target.contains(":") ? "::" : "0.0.0.0", port: 70, on: client.loop)
        let received = answering.receive()
        let peer = try SocketAddress(host: target, port: 7)
        asking.send("hello", to: peer)
        let datagram = try world.run(until: received)
        #expect(world.now == .milliseconds(10))
        #expect(datagram.source == (try SocketAddress(host: source, port: 70)))
        #expect(datagram.header.destination == (try SocketAddress(host: destination, port: 7)))
        #expect(datagram.header.localAddress == datagram.header.destination)
        answering.send("hello yourself", to: datagram.source, from: datagram.header.localAddress)
        #expect(try world.run(until: asking.receive()).source == peer)
        #expect(world.now == .milliseconds(20))
    }

    @Test("a socket gets only what is sent to its address, and a connected one only what its peer sends")
    func filters() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server", addresses: ["10.1.0.1", "10.1.0.2"])
        let client = try world.addHost("client", addresses: ["10.1.0.3", "10.1.0.4"])
        let first = try UDPSocket.bind(host: "10.1.0.1", port: 7, on: server.loop)
        let second = try UDPSocket.bind(host: "10.1.0.2", port: 7, on: server.loop)
        let outgoing = try UDPSocket.bind(host: "0.0.0.0", port: 70, on: client.loop)
        outgoing.send("to the second", to: second.localAddress)
        outgoing.send("to the first", to: first.localAddress)
        #expect(try world.run(until: first.receive()).bytes == Data("to the first".utf8))
        #expect(try world.run(until: second.receive()).bytes == Data("to the second".utf8))
        let connected = try UDPSocket.connect(
            to: try SocketAddress(host: "10.1.0.4", port: 70), from: SocketAddress(host: "10.1.0.1", port: 8),
            on: server.loop)
        for source in ["10.1.0.3", "10.1.0.4"] {
            outgoing.send(
                "from \(source)", to: connected.localAddress, from: try SocketAddress(host: source, port: 0))
            try world.run(for: .seconds(1))
        }
        #expect(try world.run(until: connected.receive()).bytes == Data("from 10.1.0.4".utf8))
        #expect(connected.statistics.received == 1)
        let refused = outgoing.send(
            "x", to: first.localAddress, from: try SocketAddress(host: "10.1.0.1", port: 0))
        #expect(world.failure(of: refused) == "send EINVAL 10.1.0.1:7: invalid argument")
    }

    @Test(
        "a link loses the share of datagrams that it is told to",
        arguments: [(0, 1000...1000), (0.5, 450...550), (1, 0...0)])
    func loss(share: Double, arrived: ClosedRange<Int>) throws {
        let hosts = try DatagramHosts()
        hosts.link.datagramLoss = share
        #expect(hosts.world.link("server", "client").datagramLoss == share)
        hosts.listen()
        try hosts.send(1000)
        #expect(arrived.contains(hosts.heard.count), "\(hosts.heard.count)")
        #expect(hosts.numbers == hosts.numbers.sorted())
        #expect(hosts.outgoing.statistics.sent == 1000 && hosts.incoming.statistics.dropped == 0)
    }

    @Test(
        "a link doubles the share of datagrams that it is told to",
        arguments: [(0, 1000...1000), (0.5, 1450...1550), (1, 2000...2000)])
    func duplication(share: Double, arrived: ClosedRange<Int>) throws {
        let hosts = try DatagramHosts()
        hosts.link.datagramDuplication = share
        #expect(hosts.world.link("server", "client").datagramDuplication == share)
        hosts.listen()
        try hosts.send(1000)
        #expect(arrived.contains(hosts.heard.count), "\(hosts.heard.count)")
        #expect(Set(hosts.numbers).count == 1000)
    }

    @Test("datagrams that others overtake are up to 100 ms late, and none is lost")
    func reordering() throws {
        let hosts = try DatagramHosts()
        hosts.link.datagramReordering = 0.5
        #expect(hosts.world.link("server", "client").datagramReordering == 0.5)
        hosts.listen()
        try hosts.send(1000)
        #expect(hosts.numbers != hosts.numbers.sorted())
        #expect(hosts.numbers.sorted() == Array(0..<1000))
        let late = zip(hosts.numbers, hosts.times).map { number, time in time - .milliseconds(number + 10) }
        #expect((450...550).contains(late.count { $0 > .zero }))
        #expect(late.allSatisfy { $0 >= .zero && $0 < .milliseconds(100) })
        #expect(late.contains { $0 > .milliseconds(90) })
    }

    @Test("a datagram that takes for ever, and is overtaken, does not arrive")
    func lateForEver() throws {
        let hosts = try DatagramHosts(latency: .constant(.nanoseconds(Int.max) * 3))
        hosts.link.datagramReordering = 1
        hosts.listen()
        try hosts.send(10)
        #expect(hosts.heard.isEmpty)
    }

    @Test("datagrams that leave together arrive in their order, unless the link says otherwise")
    func together() throws {
        for share in [0, 0.5] {
            let hosts = try DatagramHosts()
            hosts.link.datagramReordering = share
            hosts.listen()
            hosts.outgoing.send(contentsOf: (0..<100).map { Data([0, UInt8($0)]) })
            try hosts.world.run(for: .seconds(1))
            #expect((hosts.numbers == Array(0..<100)) == (share == 0))
            #expect(hosts.numbers.sorted() == Array(0..<100))
        }
    }

    @Test("datagrams overtake each other where the latency differs")
    func overtaking() throws {
        let hosts = try DatagramHosts(latency: .uniform(.milliseconds(1)...(.milliseconds(50))))
        hosts.listen()
        try hosts.send(100)
        #expect(hosts.numbers != hosts.numbers.sorted())
        #expect(hosts.numbers.sorted() == Array(0..<100))
    }

    @Test("a datagram is lost with any of its packets", arguments: [(1000, 450...550), (3000, 90...160)])
    func fragments(size: Int, arrived: ClosedRange<Int>) throws {
        let hosts = try DatagramHosts()
        hosts.link.mtu = 1028
        #expect(hosts.world.link("server", "client").mtu == 1028)
        hosts.link.datagramLoss = 0.5
        hosts.listen()
        try hosts.send(1000, size: size)
        // A half, and an eighth.
        #expect(arrived.contains(hosts.heard.count), "\(hosts.heard.count)")
    }

    @Test("a link that drops fragments loses what is longer than its packets, and nothing else")
    func dropsFragments() throws {
        let hosts = try DatagramHosts()
        hosts.listen()
        hosts.link.dropsFragments = true
        #expect(hosts.world.link("server", "client").dropsFragments)
        for (mtu, sizes, arriving) in [
            (nil, [1000, 1001, 65_507], [1000, 1001, 65_507]), (1028, [1001, 1000, 65_507, 2], [1000, 2]),
            (68, [41, 40], [40]),
        ] {
            hosts.link.mtu = mtu
            let before = hosts.heard.count
            for size in sizes { try hosts.send(1, size: size) }
            #expect(hosts.heard[before...].map(\.bytes.count) == arriving)
        }
    }

    @Test("what nobody reads in time is dropped, and counted")
    func overflow() throws {
        let hosts = try DatagramHosts()
        try hosts.incoming.setReceiveBufferSize(10_000)
        // Linux doubles it, and counts some bytes for each datagram.
        #expect(try hosts.incoming.receiveBufferSize == 20_000)
        try hosts.send(20, size: 1000)
        #expect(hosts.incoming.statistics.dropped == 9)
        hosts.listen()
        try hosts.send(1)
        #expect(hosts.numbers == Array(0..<11) + [0])
        #expect(hosts.incoming.statistics.received == 12 && hosts.incoming.statistics.dropped == 9)
    }

    @Test("a port without a socket is told to the sender, after the way there and back")
    func refused() throws {
        let hosts = try DatagramHosts()
        try hosts.world.run(until: hosts.incoming.close())
        let answer = hosts.outgoing.receive()
        let start = hosts.world.now
        hosts.outgoing.send("anybody?")
        #expect(hosts.world.failure(of: answer) == "send ECONNREFUSED 10.0.0.1:7: connection refused")
        #expect(hosts.world.now - start == .milliseconds(20))
    }

    @Test("a report that a port has no socket is lost like a datagram")
    func lostReport() throws {
        let hosts = try DatagramHosts()
        try hosts.world.run(until: hosts.incoming.close())
        hosts.world.partition(from: "server", to: "client")
        try hosts.say("anybody?")
        #expect(hosts.outgoing.statistics.unreachable == 0)
        hosts.world.heal()
        hosts.link.datagramLoss = 0.5
        try hosts.send(1000)
        // A quarter of the ways there and back.
        let reports = hosts.outgoing.statistics.unreachable
        #expect((200...300).contains(reports), "\(reports)")
    }

    @Test("an address that no host has is told after three seconds")
    func unreachable() throws {
        let hosts = try DatagramHosts()
        let peer = try SocketAddress(host: "10.0.9.9", port: 7)
        let socket = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: hosts.client.loop)
        var reports: [SystemError] = []
        socket.onUnreachable { reports.append($0) }
        socket.forEachDatagram { _, _ in }.ignoreFailure()
        socket.send("anybody?", to: peer)
        try hosts.world.run(for: .milliseconds(2999))
        #expect(reports.isEmpty)
        try hosts.world.run(for: .milliseconds(1))
        #expect(reports.map { "\($0)" } == ["send EHOSTUNREACH 10.0.9.9:7: host is unreachable"])
        #expect(reports[0].peerAddress == peer && socket.statistics.unreachable == 1)
    }

    @Test("a host without an address of the family has no way there")
    func families() throws {
        let world = World(seed: 1)
        let host = try world.addHost("four", addresses: ["10.1.0.1"])
        let six = try SocketAddress(host: "fd00::9", port: 7)
        let both = try UDPSocket.bind(host: "::", port: 0, on: host.loop)
        #expect(world.failure(of: both.send("x", to: six)).hasPrefix("send ENETUNREACH"))
        let error = #expect(throws: SystemError.self) { try UDPSocket.connect(to: six, on: host.loop) }
        #expect(error?.code == .networkUnreachable && error?.operation == "connect")
        let foreign = #expect(throws: SystemError.self) {
            try UDPSocket.bind(host: "10.1.0.2", port: 0, on: host.loop)
        }
        #expect(foreign?.code == .addressNotAvailable)
    }
}
