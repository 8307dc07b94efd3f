import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramLimitsTests {
    @Test("a datagram that is longer than the limit is told to be cut", arguments: TestNetwork.allCases)
    func truncated(network: TestNetwork) throws {
        var limits = DatagramLimits()
        limits.maxSize = 4
        try withSockets(network, limits: limits) { loop, server, client in
            for (sent, received, isTruncated) in [("four", "four", false), ("fiver", "five", true)] {
                client.send(sent, to: server.localAddress)
                let datagram = try loop.run(until: server.receive())
                #expect(datagram.bytes == Data(received.utf8) && datagram.isTruncated == isTruncated)
            }
            #expect(server.statistics.truncated == 1)
        }
    }

    @Test(
        "what does not fit into the queue is refused, and the rest is sent", arguments: TestNetwork.allCases)
    func writeCap(network: TestNetwork) throws {
        var limits = DatagramLimits()
        limits.writeCap = 3000
        try withSockets(network, limits: limits) { loop, server, client in
            let sends = (0..<3).map { _ in client.send(Data(count: 1000), to: server.localAddress) }
            #expect(client.bufferedBytes == 2000)
            #expect(
                "\(loop.failure(of: sends[2])!)"
                    == "the datagram was not sent: 2000 bytes wait to be sent, and no more than 3000 may; wait for the "
                    + "futures of send, or for writable")
            try loop.run(until: sends[0].and(sends[1]).map { _ in })
            #expect(client.bufferedBytes == 0)
            try loop.run(until: client.send(Data(count: 1000), to: server.localAddress))
        }
    }

    @Test("writable waits until the queue has room", arguments: TestNetwork.allCases)
    func writable(network: TestNetwork) throws {
        var limits = DatagramLimits()
        limits.writeHighWaterMark = 2000
        limits.writeLowWaterMark = 1000
        try withSockets(network, limits: limits) { loop, server, client in
            #expect(client.writable.isCompleted)
            // A datagram counts with the memory that its place in the queue takes.
            client.send(
                Data(count: 2000 - MemoryLayout<OutgoingDatagrams.Entry>.stride - 1), to: server.localAddress)
            #expect(client.writable.isCompleted)
            try loop.run(until: client.send("", to: server.localAddress))
            client.send(
                Data(count: 2000 - MemoryLayout<OutgoingDatagrams.Entry>.stride), to: server.localAddress)
            try loop.run(until: client.writable)
            #expect(client.bufferedBytes == 0)
            for _ in 0..<2 { client.send(Data(count: 1000), to: server.localAddress) }
            let (writable, again) = (client.writable, client.writable)
            #expect(!writable.isCompleted && !again.isCompleted)
            try loop.run(until: writable.and(again).asVoid())
            #expect(client.bufferedBytes == 0)
        }
    }

    @Test("limits that make no sense are refused", arguments: TestNetwork.allCases)
    func senseless(network: TestNetwork) throws {
        try withLoop(network) { loop in
            func complaint(_ change: (inout DatagramLimits) -> Void) -> String? {
                var limits = DatagramLimits()
                change(&limits)
                return UVFuturesTests.complaint {
                    _ = try UDPSocket.bind(host: "127.0.0.1", port: 0, limits: limits, on: loop)
                }
            }
            #expect(
                complaint { $0.writeLowWaterMark = 70_000 }
                    == "writeHighWaterMark must be at least 1 and writeLowWaterMark from 0 to that, not 65536 and 70000"
            )
            #expect(
                complaint { ($0.writeHighWaterMark, $0.writeLowWaterMark) = (0, 0) }
                    == "writeHighWaterMark must be at least 1 and writeLowWaterMark from 0 to that, not 0 and 0"
            )
            #expect(
                complaint {
                    ($0.writeHighWaterMark, $0.writeLowWaterMark, $0.writeCap, $0.maxSize) = (1, 1, 1, 1)
                } == nil)
            #expect(
                complaint { $0.writeCap = 0 }
                    == "writeCap must be at least 1, not 0")
            #expect(complaint { $0.maxSize = 0 } == "a maxSize of 0 is out of range; give 1 to 65536")
            #expect(
                complaint { $0.maxSize = 65_537 } == "a maxSize of 65537 is out of range; give 1 to 65536")
        }
    }

    @Test("bad arguments have a sentence each", arguments: TestNetwork.allCases)
    func badArguments(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let connected = try UDPSocket.connect(to: server.localAddress, on: loop)
            let other = client.localAddress
            let path = try SocketAddress(path: "/x")
            func failure(_ sent: Future<Void>) -> String { "\(loop.failure(of: sent)!)" }
            #expect(
                failure(client.send("x"))
                    == "a datagram of \(client) has no target; give an address as to:, or use a "
                    + "connected socket"
            )
            #expect(
                failure(connected.send("x", to: other))
                    == "\(connected) is connected, and sends to its peer alone, not to \(other); leave out "
                    + "the argument to:"
            )
            #expect(
                failure(client.send("x", to: other.with(port: 0)))
                    == "cannot send to port 0 of 127.0.0.1; give a port from 1 to 65535")
            #expect(
                failure(client.send("x", to: path))
                    == "\(client) cannot send to unix:/x, which is of the UNIX domain")
            #expect(
                failure(client.send("x", to: other, from: path))
                    == "\(client) cannot send from unix:/x; give an address of this machine")
            let group = try SocketAddress(host: "239.1.2.3", port: 7)
            #expect(
                failure(client.send("x", to: other, from: group))
                    == "\(client) cannot send from 239.1.2.3:7; give an address of this machine")
            #expect(
                complaint { _ = try UDPSocket.bind(host: "localhost", port: other.port, on: loop) }
                    == "bind EADDRINUSE \(other): address already in use")
            #expect(
                complaint { _ = try UDPSocket.bind(host: "example.com", port: 0, on: loop) }
                    == "host \"example.com\" is not a numeric IPv4 or IPv6 address; a server listens on such an address "
                    + "or localhost")
            #expect(
                complaint { _ = try UDPSocket.bind(host: "127.0.0.1", port: 65_536, on: loop) }
                    == "port 65536 is out of range; give 0 to 65535")
            #expect(
                complaint { _ = try UDPSocket.bind(host: "127.0.0.1", port: other.port, on: loop) }
                    == "bind EADDRINUSE \(other): address already in use")
            #expect(
                complaint { _ = try UDPSocket.bind(host: "192.0.2.1", port: 0, on: loop) }
                    == "bind EADDRNOTAVAIL 192.0.2.1:0: address not available")
            let first = try UDPSocket.connect(to: other, from: other.with(port: 0), on: loop)
            #expect(
                complaint { _ = try UDPSocket.connect(to: other, from: first.localAddress, on: loop) }
                    == "bind EADDRINUSE \(first.localAddress): address already in use")
            try loop.run(until: first.close())
            #expect(
                complaint { _ = try UDPSocket.connect(to: path, on: loop) }
                    == "unix:/x is not a UDP address; use UnixDatagramSocket for it")
            #expect(
                complaint { _ = try UDPSocket.connect(to: other.with(port: 0), on: loop) }
                    == "cannot send to port 0; give a port from 1 to 65535")
            #expect(
                complaint {
                    _ = try UDPSocket.connect(to: other, from: SocketAddress(host: "::1", port: 0), on: loop)
                }
                    == "nothing can be sent from [::1]:0 to \(other): the addresses are of different families"
            )
            #expect(
                complaint { try client.setTimeToLive(0) }
                    == "a time to live of 0 is out of range; give 1 to 255")
            #expect(
                complaint { try client.setReceiveBufferSize(0) }
                    == "a buffer of 0 bytes is out of range; give 1 to 1073741823")
            try loop.run(until: connected.close())
        }
    }

    @Test(
        "a datagram may go to any port but 0, and a connected socket may name its peer",
        arguments: TestNetwork.allCases)
    func goodArguments(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let low = server.localAddress.with(port: 1)
            try loop.run(until: client.send("x", to: low))
            let connected = try UDPSocket.connect(to: low, on: loop)
            try loop.run(until: connected.send("x", to: low))
            try loop.run(until: connected.close())
        }
    }
}
