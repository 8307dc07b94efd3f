import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct UVDatagramsTests {
    @Test("datagrams that nobody wants stop to wake the loop, and are there when somebody does")
    func unwanted() throws {
        try withSockets(.system) { loop, server, client in
            client.send("first", to: server.localAddress)
            _ = try loop.run(until: server.receive())
            for size in 1...40 { client.send(Data(count: size), to: server.localAddress) }
            let turns = Counter()
            let ticks = loop.repeat(every: .milliseconds(1)) { turns.count += 1 }
            try loop.runUntil { turns.count == 5 }
            ticks.cancel()
            #expect(server.statistics.received == 1)
            for size in 1...40 { #expect(try loop.run(until: server.receive()).bytes.count == size) }
            client.send("last", to: server.localAddress)
            #expect(try loop.run(until: server.receive()).bytes == Data("last".utf8))
        }
    }

    @Test("reports of the network do not end the watch", arguments: [1, 20])
    func reports(count: Int) throws {
        try withSockets(.system) { loop, server, client in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            let received = server.receive()
            for _ in 0..<count {
                server.send("x", to: address)
                try loop.runUntil { server.bufferedBytes == 0 }
            }
            try loop.runUntil { server.statistics.unreachable > 0 }
            #expect(server.statistics.sent == count)
            client.send("still here", to: server.localAddress)
            #expect(try loop.run(until: received).bytes == Data("still here".utf8))
        }
    }

    @Test("datagrams that the kernel has put together come each with its source and its size")
    func together() throws {
        try withSockets(.system) { loop, server, client in
            let peer = try UDPSocket.connect(to: server.localAddress, on: loop)
            try server.setReceiveBufferSize(1_000_000)
            var heard: [(Int, SocketAddress?)] = []
            let reading = server.forEachDatagram { bytes, header in
                heard.append((bytes.byteCount, header.source))
            }
            for socket in [client, peer] {
                let sizes = [Int](repeating: 300, count: 60) + [299]
                let target = socket === client ? server.localAddress : nil
                try loop.run(until: socket.send(contentsOf: sizes.map { Data(count: $0) }, to: target))
            }
            try loop.runUntil { heard.count == 122 }
            for (sender, socket) in [client, peer].enumerated() {
                let own = heard[(sender * 61)..<(sender * 61 + 61)]
                #expect(own.map(\.0) == [Int](repeating: 300, count: 60) + [299])
                #expect(own.allSatisfy { $0.1 == socket.localAddress })
            }
            reading.cancel()
            try loop.run(until: peer.close())
        }
    }

    private final class Counter { var count = 0 }
}
