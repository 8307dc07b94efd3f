import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct UVDatagramBlockTests {
    @Test("sockets that share the memory of their loop do not see each other's datagrams")
    func shared() throws {
        try withSockets(.system) { loop, first, second in
            // Each answers while the datagrams of its batch are being delivered.
            var (heard, long) = ([String](), 0)
            for socket in [first, second] {
                socket.forEachDatagram { bytes, header in
                    if bytes.byteCount > 100 {
                        long += bytes.byteCount
                        return
                    }
                    heard.append(String(decoding: Data(copying: bytes), as: UTF8.self))
                    if heard.count < 100 { socket.send("\(heard.count)", to: header.source) }
                    socket.send(Data(repeating: UInt8(ascii: "x"), count: 1000), to: header.source)
                }.ignoreFailure()
            }
            first.send("0", to: second.localAddress)
            try loop.runUntil { heard.count == 100 && long == 100_000 }
            #expect(heard == (0..<100).map { "\($0)" })
        }
    }

    @Test("the memory comes back with the next socket when the last was closed")
    func again() throws {
        try withLoop { loop in
            for round in 0..<10 {
                let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                let received = socket.receive()
                socket.send(Data(count: 60_000 + round), to: socket.localAddress)
                #expect(try loop.run(until: received).bytes.count == 60_000 + round)
                try loop.run(until: socket.close())
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("a body that closes one socket of a loop leaves the others alone")
    func closing() throws {
        try withSockets(.system) { loop, first, second in
            let third = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            var count = 0
            let reading = first.forEachDatagram { _, _ in
                count += 1
                third.close()
                first.close()
            }
            for size in [100, 100, 100, 1] { second.send(Data(count: size), to: first.localAddress) }
            #expect(loop.outcome(of: reading).isSuccess)
            #expect(count == 1)
            let received = second.receive()
            second.send("alive", to: second.localAddress)
            #expect(try loop.run(until: received).bytes == Data("alive".utf8))
            try loop.run(until: third.close())
        }
    }
}
