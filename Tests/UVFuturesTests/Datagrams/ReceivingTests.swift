import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct ReceivingTests {
    @Test(
        "a connected socket hears that its peer has no socket, and goes on", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress!
            try loop.run(until: gone.close())
            let client = try UDPSocket.connect(to: address, on: loop)
            let answer = client.receive()
            try loop.run(until: client.send("anybody?"))
            let error = try #require(loop.failure(of: answer) as? UVError)
            #expect(error.code == .connectionRefused && error.peerAddress == address)
            #expect("\(error)" == "send ECONNREFUSED \(address): connection refused")
            // A second datagram is not blamed for the first.
            try loop.run(until: client.send("and now?"))
            #expect(loop.failure(of: client.receive()) as? UVError == error)
            let again = try UDPSocket.bind(host: "127.0.0.1", port: address.port, on: loop)
            let late = client.receive()
            let echo = again.forEachDatagram { bytes, header in again.send(bytes, to: header.source) }
            try loop.run(until: client.send("hello"))
            #expect(try loop.run(until: late).bytes == Data("hello".utf8))
            #expect(client.statistics.unreachable == 2)
            try loop.run(until: client.close().and(again.close()).map { _ in })
            _ = loop.outcome(of: echo)
        }
    }

    @Test(
        "a socket of many peers tells which one has no socket, and loses nothing",
        arguments: TestNetwork.allCases)
    func refusedByOneOfMany(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress!
            try loop.run(until: gone.close())
            var unreachable: [UVError] = []
            server.onUnreachable { unreachable.append($0) }
            let received = server.receive()
            server.send("hello", to: address)
            try loop.runUntil { !unreachable.isEmpty }
            #expect(unreachable.map(\.code) == [.connectionRefused])
            #expect(unreachable.map(\.peerAddress) == [address])
            client.send("still here", to: server.localAddress)
            #expect(try loop.run(until: received).bytes == Data("still here".utf8))
        }
    }

    @Test("datagrams wait in the system until somebody asks for them", arguments: TestNetwork.allCases)
    func pulled(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            // Of growing sizes, which no kernel puts together.
            for size in 1...50 { client.send(Data(count: size), to: server.localAddress) }
            try loop.run(for: .milliseconds(5))
            #expect(server.statistics.received == 0)
            for size in 1...50 {
                #expect(try loop.run(until: server.receive()).bytes.count == size)
                #expect((size..<size + 16).contains(server.statistics.received))
            }
        }
    }

    @Test("a receive that is cancelled loses no datagram", arguments: TestNetwork.allCases)
    func cancelled(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let cancelled = server.receive()
            let received = server.receive()
            #expect(cancelled.cancel())
            client.send("kept", to: server.localAddress)
            let datagram = try loop.run(until: received)
            #expect(datagram.bytes == Data("kept".utf8))
            #expect(loop.outcome(of: cancelled).isCancellation)
        }
    }

    @Test("a wildcard socket tells at which address a datagram came", arguments: TestNetwork.allCases)
    func wildcard(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: loop)
            let client = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let target = try SocketAddress(host: "127.0.0.9", port: server.localAddress!.port)
            client.send("hello", to: target)
            let datagram = try loop.run(until: server.receive())
            #expect(datagram.header.destination == target)
            #expect(datagram.header.localAddress == target)
            server.send("hello", to: datagram.source, from: datagram.header.localAddress)
            #expect(try loop.run(until: client.receive()).source == target)
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }
}
