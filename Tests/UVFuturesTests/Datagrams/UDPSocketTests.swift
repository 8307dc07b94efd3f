import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct UDPSocketTests {
    @Test(
        "a datagram arrives as it was sent, with the addresses of both ends", arguments: TestNetwork.allCases)
    func oneDatagram(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = server.receive()
            try loop.run(until: client.send("hello", to: server.localAddress))
            let datagram = try loop.run(until: received)
            #expect(String(decoding: datagram.bytes, as: UTF8.self) == "hello")
            #expect(datagram.source == client.localAddress)
            #expect(datagram.header.destination == server.localAddress)
            #expect(datagram.header.localAddress == server.localAddress)
            #expect(!datagram.isTruncated)
        }
    }

    @Test("a server answers in the closure that gets the bytes", arguments: TestNetwork.allCases)
    func echo(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let echo = server.forEachDatagram { bytes, header in
                server.send(bytes, to: header.source, from: header.localAddress)
            }
            let peer = try UDPSocket.connect(to: server.localAddress!, on: loop)
            #expect(peer.peerAddress == server.localAddress)
            let answers = (0..<100).map { _ in peer.receive() }
            for number in 0..<100 { peer.send("\(number)") }
            let numbers = try loop.run(until: Future.all(answers)).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            #expect(numbers == (0..<100).map { "\($0)" })
            #expect(server.statistics.received == 100 && server.statistics.sent == 100)
            #expect(peer.statistics.sentBytes == 190 && peer.statistics.receivedBytes == 190)
            server.close()
            #expect(loop.outcome(of: echo).isSuccess)
            try loop.run(until: peer.close())
        }
    }

    @Test(
        "sockets of IPv6 and of both families", .enabled(if: loopbackHosts.contains("::1")),
        arguments: TestNetwork.allCases)
    func families(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let both = try UDPSocket.bind(host: "::", port: 0, on: loop)
            let port = both.localAddress!.port
            let four = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let six = try UDPSocket.bind(host: "::1", port: 0, on: loop)
            let echo = both.forEachDatagram { bytes, header in
                both.send(bytes, to: header.source, from: header.localAddress)
            }
            four.send("four", to: try SocketAddress(host: "127.0.0.1", port: port))
            let first = try loop.run(until: four.receive())
            #expect(first.bytes == Data("four".utf8) && first.source?.host == "127.0.0.1")
            six.send("six", to: try SocketAddress(host: "::1", port: port))
            #expect(try loop.run(until: six.receive()).bytes == Data("six".utf8))
            // An IPv4 address is one that the socket of both families can send to.
            try loop.run(until: both.send("back", to: four.localAddress))
            #expect(try loop.run(until: four.receive()).bytes == Data("back".utf8))
            #expect(
                complaint { try loop.run(until: four.send("x", to: six.localAddress)) }
                    == "\(four) cannot send to \(six.localAddress!), which is of another family; use a socket on an "
                    + "IPv6 address")
            try loop.run(until: Future.all([both.close(), four.close(), six.close()]).map { _ in })
            _ = loop.outcome(of: echo)
        }
    }

    @Test("connecting by name", arguments: TestNetwork.allCases)
    func names(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            let port = server.localAddress!.port
            let client = try loop.run(until: UDPSocket.connect(host: "localhost", port: port, on: loop))
            #expect(client.peerAddress == server.localAddress)
            let received = server.receive()
            client.send("hello")
            #expect(try loop.run(until: received).source == client.localAddress)
            try loop.run(until: client.close())
        }
    }
}
