import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct SendingTests: UsesUnixSockets {
    @Test(
        "close fails what the system has not taken, and says that it was the close",
        arguments: TestNetwork.allCases)
    func closing(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/slow", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/slow", on: loop)
            let sends = (0..<2000).map { client.send("\($0)") }
            let all = client.send(contentsOf: [Data([1]), Data([2])])
            try loop.run(for: .milliseconds(5))
            let taken = sends.prefix { $0.isCompleted }.count
            #expect(taken > 0 && taken < 2000)
            let writable = client.writable
            try loop.run(until: client.close())
            for sent in sends[taken...] {
                #expect(loop.failure(of: sent) as? DatagramError == .socketClosed)
            }
            #expect(loop.failure(of: all) as? DatagramError == .socketClosed)
            #expect(loop.failure(of: writable) as? DatagramError == .socketClosed)
            for number in 0..<taken {
                #expect(try loop.run(until: server.receive()).bytes == Data("\(number)".utf8))
            }
            try loop.run(until: server.close())
        }
    }

    @Test("close sends what the peer has got room for", arguments: TestNetwork.allCases)
    func closingWithRoom(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/slow", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/slow", on: loop)
            let sends = (0..<2000).map { client.send("\($0)") }
            try loop.run(for: .milliseconds(5))
            let taken = sends.count { $0.isCompleted }
            // Before the client hears of the room.
            _ = try loop.run(until: server.receive().tap { _ in client.close() })
            let results = sends.map { loop.outcome(of: $0).isSuccess }
            #expect(results.count { $0 } > taken)
            for number in results.indices.dropFirst() where results[number] {
                #expect(try loop.run(until: server.receive()).bytes == Data("\(number)".utf8))
            }
            try loop.run(until: server.close())
        }
    }

    @Test("what one callback sends leaves together and in order", arguments: TestNetwork.allCases)
    func together(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let callbacks = loop.statistics.readyCallbacks
            for number in 0..<100 { client.send("\(number)", to: server.localAddress) }
            #expect(client.bufferedBytes == 190 && client.statistics.sent == 0)
            #expect(loop.statistics.readyCallbacks == callbacks + 1)
            for number in 0..<100 {
                #expect(try loop.run(until: server.receive()).bytes == Data("\(number)".utf8))
            }
            #expect(client.bufferedBytes == 0 && client.statistics.sent == 100)
        }
    }

    @Test(
        "what a body sends leaves when the datagrams that came together are through",
        arguments: TestNetwork.allCases)
    func answers(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            var buffered: [Int] = []
            let echo = server.forEachDatagram { bytes, header in
                server.send(bytes, to: header.source)
                buffered.append(server.bufferedBytes)
            }
            for _ in 0..<3 { client.send("four", to: server.localAddress) }
            for _ in 0..<3 { _ = try loop.run(until: client.receive()) }
            #expect(buffered == [4, 8, 12])
            #expect(server.bufferedBytes == 0)
            echo.cancel()
        }
    }

    @Test("a long queue leaves before the callback has ended", arguments: TestNetwork.allCases)
    func early(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            for _ in 0..<4 { client.send(Data(count: 65_000), to: server.localAddress) }
            #expect(client.statistics.sent == 0)
            client.send(Data(count: 65_000), to: server.localAddress)
            #expect(client.statistics.sent == 5 && client.bufferedBytes == 0)
        }
    }

    @Test("a datagram that the system refuses fails alone", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let broadcast = try SocketAddress(host: "255.255.255.255", port: 7)
            let sends = [("a", server.localAddress), ("b", broadcast), ("c", server.localAddress)].map {
                client.send($0, to: $1)
            }
            let error = try #require(loop.failure(of: sends[1]) as? SystemError)
            #expect(error.operation == "send" && error.peerAddress == broadcast)
            #expect(loop.outcome(of: sends[0]).isSuccess && loop.outcome(of: sends[2]).isSuccess)
            #expect(try loop.run(until: server.receive()).bytes == Data("a".utf8))
            #expect(try loop.run(until: server.receive()).bytes == Data("c".utf8))
            #expect(client.statistics.sent == 2 && client.statistics.sentBytes == 2)
            let several = client.send(Data([1]), to: [server.localAddress, broadcast, server.localAddress])
            #expect(loop.failure(of: several) as? SystemError == error)
            #expect(client.statistics.sent == 4)
        }
    }

    @Test("a datagram leaves from the address that it is told to", arguments: TestNetwork.allCases)
    func sources(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let client = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: loop)
            // Of one size and for one peer, but not between the same addresses.
            let hosts = ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.3"]
            for host in hosts {
                client.send("same", to: server.localAddress, from: try SocketAddress(host: host, port: 9))
            }
            for host in hosts {
                let source = try loop.run(until: server.receive()).source
                #expect(source == (try SocketAddress(host: host, port: client.localAddress.port)))
            }
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("datagrams of one size for several peers do not mix", arguments: TestNetwork.allCases)
    func peers(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let other = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            for number in 0..<20 {
                client.send([UInt8(number), 0], to: (number % 4 < 2 ? server : other).localAddress)
            }
            for number in 0..<20 {
                let socket = number % 4 < 2 ? server : other
                #expect(try loop.run(until: socket.receive()).bytes == Data([UInt8(number), 0]))
            }
            try loop.run(until: other.close())
        }
    }
}
