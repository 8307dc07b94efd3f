import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SendingTests {
    @Test("datagrams of all sizes arrive whole", arguments: TestNetwork.allCases)
    func sizes(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            for size in [0, 1, 1472, 1473, 9000, 65_507] {
                let sent = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
                let received = server.receive()
                try loop.run(until: client.send(sent, to: server.localAddress))
                #expect(try loop.run(until: received).bytes == sent)
            }
        }
    }

    @Test("many datagrams of a size leave and arrive each for itself", arguments: TestNetwork.allCases)
    func segments(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try server.setReceiveBufferSize(1_000_000)
            var sizes: [Int] = []
            let received = server.forEachDatagram { bytes, _ in sizes.append(bytes.byteCount) }
            // The runs that the kernel may take as one: equal sizes, the last of which is shorter, an empty one.
            let sent =
                [Int](repeating: 1000, count: 70) + [
                    10, 1000, 1000, 0, 1000, 1200, 1200, 1000, 20_000, 20_000,
                ]
            let all = sent.map { Data(repeating: 7, count: $0) }
            try loop.run(until: client.send(contentsOf: all, to: server.localAddress))
            try loop.runUntil { sizes.count == sent.count }
            #expect(sizes == sent)
            #expect(client.statistics.sent == sent.count)
            server.close()
            _ = loop.outcome(of: received)
        }
    }

    @Test("a datagram goes to several peers with one call", arguments: TestNetwork.allCases)
    func toMany(network: TestNetwork) throws {
        try withSockets(network) { loop, first, client in
            let second = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let received = Future.all([first.receive(), second.receive()])
            let targets = [first, second].map { $0.localAddress! }
            try loop.run(until: client.send(Data([1, 2, 3]), to: targets))
            #expect(try loop.run(until: received).map(\.bytes) == [Data([1, 2, 3]), Data([1, 2, 3])])
            try loop.run(until: client.send(Data(), to: []))
            try loop.run(until: client.send(contentsOf: [], to: targets[0]))
            try loop.run(until: second.close())
        }
    }

    @Test(
        "one of several that cannot be sent is told, and the others are sent", arguments: TestNetwork.allCases
    )
    func partly(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = Future.all([server.receive(), server.receive()])
            let sizes = [3, 65_508, 4]
            let sent = client.send(contentsOf: sizes.map { Data(count: $0) }, to: server.localAddress)
            #expect(
                "\(loop.failure(of: sent)!)"
                    == "a datagram of 65508 bytes cannot be sent, since the longest has 65507; send it in parts"
            )
            let datagrams = try loop.run(until: received)
            #expect(datagrams.map(\.bytes.count) == [3, 4])
        }
    }
}
