import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SimulatedDatagramsTests {
    /// Ten datagrams of 50,000 bytes on a link of 100,000 bytes a second, of which the system takes four.
    private func withSlowLink(_ body: (DatagramHosts, [Future<Void>]) throws -> Void) throws {
        let hosts = try DatagramHosts()
        hosts.link.bandwidth = 100_000
        hosts.listen()
        let sends = (0..<10).map { _ in hosts.outgoing.send(Data(count: 50_000)) }
        try hosts.world.run(for: .milliseconds(1))
        #expect(hosts.outgoing.bufferedBytes == 300_000)
        try body(hosts, sends)
    }

    @Test("a slow link lets datagrams wait in their order, and writable waits with them")
    func bandwidth() throws {
        try withSlowLink { hosts, sends in
            let writable = hosts.outgoing.writable
            #expect(sends.map(\.isCompleted) == (0..<10).map { $0 < 4 })
            try hosts.world.run(until: sends[4])
            #expect(hosts.world.now > .milliseconds(500) && hosts.world.now < .milliseconds(502))
            #expect(hosts.outgoing.bufferedBytes == 250_000 && !writable.isCompleted)
            try hosts.world.run(until: writable)
            #expect(hosts.outgoing.bufferedBytes == 0 && hosts.outgoing.statistics.sent == 10)
            // Six have left, four wait in the system.
            #expect(hosts.world.now > .seconds(3) && hosts.world.now < .milliseconds(3010))
            try hosts.world.run(for: .seconds(3))
            #expect(hosts.heard.count == 10)
            #expect(hosts.times.last! > .seconds(5) && hosts.times.last! < .milliseconds(5050))
        }
    }

    @Test("a socket that is closed has sent what the system takes, and tells what has not left")
    func closing() throws {
        try withSlowLink { hosts, sends in
            try hosts.world.run(until: hosts.outgoing.close())
            #expect(sends.map { hosts.world.failure(of: $0) == "nothing fails" } == (0..<10).map { $0 < 4 })
            #expect(hosts.world.failure(of: sends[9]) == "\(DatagramError.socketClosed)")
            try hosts.world.run(for: .seconds(10))
            #expect(hosts.heard.count == 4)
        }
    }

    @Test("a system with a larger buffer takes more at once")
    func buffer() throws {
        let hosts = try DatagramHosts()
        hosts.link.bandwidth = 100_000
        try hosts.outgoing.setSendBufferSize(50_000)
        #expect(try hosts.outgoing.sendBufferSize == 100_000)
        for _ in 0..<10 { hosts.outgoing.send(Data(count: 50_000)) }
        try hosts.world.run(for: .milliseconds(1))
        #expect(hosts.outgoing.bufferedBytes == 400_000)
        // Linux takes no more than the limit of the machine, and no less than it needs.
        try hosts.outgoing.setSendBufferSize(10_000_000)
        #expect(try hosts.outgoing.sendBufferSize == 425_984)
        try hosts.outgoing.setReceiveBufferSize(1)
        #expect(try hosts.outgoing.receiveBufferSize == 2304)
    }

    @Test("a datagram passes that is longer than the buffer of its sender")
    func longerThanBuffer() throws {
        let hosts = try DatagramHosts()
        hosts.link.bandwidth = 100_000
        hosts.listen()
        try hosts.outgoing.setSendBufferSize(1)
        let sends = (0..<2).map { _ in hosts.outgoing.send(Data(count: 50_000)) }
        try hosts.world.run(for: .milliseconds(1))
        #expect(sends.map(\.isCompleted) == [true, false])
        try hosts.world.run(for: .seconds(2))
        #expect(hosts.heard.count == 2)
    }

    @Test("of the datagrams that wait, 32 are delivered in a turn")
    func turns() throws {
        let hosts = try DatagramHosts()
        for number in 0..<70 { hosts.outgoing.send(Data([UInt8(number)])) }
        try hosts.world.run(for: .seconds(1))
        let loop = hosts.server.loop
        var (turns, numbers): ([UInt64], [UInt8]) = ([], [])
        hosts.incoming.forEachDatagram { bytes, _ in
            turns.append(loop.statistics.turns)
            numbers += Data(copying: bytes)
        }
        .ignoreFailure()
        try hosts.world.run(for: .seconds(1))
        #expect(numbers == Array(0..<70))
        let sizes = Dictionary(grouping: turns) { $0 }.sorted { $0.key < $1.key }.map(\.value.count)
        #expect(sizes == [32, 32, 6])
    }

    @Test("a UNIX socket queues as on Linux, and goes on when its reader is closed")
    func unix() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.disk.makeDirectory("/dev")
        let log = try UnixDatagramSocket.bind(path: "/dev/log", on: host.loop)
        let client = try UnixDatagramSocket.connect(path: "/dev/log", on: host.loop)
        let sends = (0..<20).map { client.send("\($0)") }
        try world.run(for: .seconds(1))
        #expect(sends.count { $0.isCompleted } == 11)
        #expect(try world.run(until: log.receive()).bytes == Data("0".utf8))
        try world.run(until: log.close())
        try world.run(for: .seconds(1))
        let failures = sends.map { world.failure(of: $0) }
        #expect(failures[..<11].allSatisfy { $0 == "nothing fails" })
        #expect(failures[11] == "send ECONNREFUSED unix:/dev/log: connection refused")
        // The socket has no peer any more, whatever is at the path.
        let unconnected = "send ENOTCONN unix:/dev/log: socket is not connected"
        #expect(failures[12...].allSatisfy { $0 == unconnected })
        // Paths are the host's own.
        let other = try world.addHost("other")
        let error = #expect(throws: SystemError.self) {
            try UnixDatagramSocket.connect(path: "/dev/log", on: other.loop)
        }
        #expect("\(error!)" == "connect ENOENT unix:/dev/log: no such file or directory")
    }

    @Test("the line of a socket stands in the dump of its host's loop until it is closed")
    func line() throws {
        let hosts = try DatagramHosts()
        let line = "datagrams \(hosts.outgoing.localAddress) – 10.0.0.1:7"
        #expect(hosts.client.loop.dump().contains(line))
        #expect(hosts.server.loop.dump().contains("datagrams 0.0.0.0:7"))
        try hosts.world.run(until: hosts.outgoing.close())
        #expect(!hosts.client.loop.dump().contains("datagrams"))
        let error = #expect(throws: SystemError.self) { try hosts.outgoing.receiveBufferSize }
        #expect("\(error!)" == "read option EBADF \(hosts.outgoing.localAddress): bad file descriptor")
    }

    @Test("a datagram needs 768 bytes of the buffer besides its own")
    func overhead() throws {
        for (size, dropped) in [(1536, 0), (1537, 1)] as [(Int, UInt64)] {
            let hosts = try DatagramHosts()
            try hosts.incoming.setReceiveBufferSize(1)
            try hosts.send(1, size: size)
            #expect(UInt64(hosts.incoming.statistics.dropped) == dropped)
        }
    }

    @Test("a refusal that nobody waits for is told by the next send or read")
    func refusals() throws {
        let hosts = try DatagramHosts()
        try hosts.world.run(until: hosts.incoming.close())
        var counts: [Int] = []
        func say() throws {
            try hosts.say("anybody?")
            counts.append(Int(hosts.outgoing.statistics.unreachable))
        }
        for _ in 0..<2 { try say() }
        #expect(
            hosts.world.failure(of: hosts.outgoing.receive())
                == "send ECONNREFUSED 10.0.0.1:7: connection refused")
        for _ in 0..<3 { try say() }
        #expect(counts == [0, 1, 2, 3, 4])
    }

    @Test("a host without descriptors says which call needs one")
    func descriptors() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        host.maxDescriptors = 0
        let peer = try SocketAddress(host: "127.0.0.1", port: 7)
        let texts = [
            Result { try UDPSocket.bind(host: "127.0.0.1", port: 8, on: host.loop) },
            Result { try UDPSocket.connect(to: peer, on: host.loop) },
        ].map { result -> String in
            guard case .failure(let error) = result else { return "nothing fails" }
            return "\(error)"
        }
        #expect(texts[0] == "bind EMFILE 127.0.0.1:8: too many open files")
        #expect(texts[1] == "connect EMFILE 127.0.0.1:7: too many open files")
    }

    @Test("datagrams to a port that two sockets share reach both of them")
    func sharing() throws {
        let world = World(seed: 1)
        let (server, client) = (try world.addHost("server"), try world.addHost("client"))
        let sockets = try (0..<2).map { _ in
            try UDPSocket.bind(
                host: "0.0.0.0", port: 7, sharingPort: true, on: server.loop)
        }
        for socket in sockets { socket.forEachDatagram { _, _ in }.ignoreFailure() }
        let outgoing = try UDPSocket.connect(to: SocketAddress(host: "10.0.0.1", port: 7), on: client.loop)
        for _ in 0..<40 { outgoing.send("x") }
        try world.run(for: .seconds(1))
        let counts = sockets.map { Int($0.statistics.received) }
        #expect(counts.reduce(0, +) == 40 && counts.allSatisfy { $0 > 5 }, "\(counts)")
    }

    @Test("a socket that is closed hears of no datagram that did not arrive")
    func closedBefore() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        let socket = try UDPSocket.connect(to: SocketAddress(host: "10.0.9.9", port: 7), on: host.loop)
        let answer = socket.receive()
        try world.run(until: socket.send("x"))
        try world.run(until: socket.close())
        try world.run(for: .seconds(5))
        #expect(socket.statistics.unreachable == 0)
        #expect(throws: CancellationError.self) { try answer.result?.get() }
    }
}
