import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct UVDatagramsTests: UsesUnixSockets {
    @Test("datagrams that nobody wants stop to wake the loop, and are there when somebody does")
    func unwanted() throws {
        try withSockets(.system) { loop, server, client in
            client.send("first", to: server.localAddress)
            _ = try loop.run(until: server.receive())
            for size in 1...40 { client.send(Data(count: size), to: server.localAddress) }
            let (turns, before) = (Counter(), loop.statistics.turns)
            let ticks = loop.repeat(every: .milliseconds(1)) { turns.count += 1 }
            try loop.runUntil { turns.count == 20 }
            ticks.cancel()
            #expect(loop.statistics.turns - before < 200)
            #expect(server.statistics.received == 1)
            for size in 1...40 { #expect(try loop.run(until: server.receive()).bytes.count == size) }
            client.send("last", to: server.localAddress)
            #expect(try loop.run(until: server.receive()).bytes == Data("last".utf8))
        }
    }

    @Test("reports of the network do not end the watch", arguments: [1, 20], loopbackHosts)
    func reports(count: Int, host: String) throws {
        try withLoop { loop in
            let server = try UDPSocket.bind(host: host, port: 0, on: loop)
            let client = try UDPSocket.bind(host: host, port: 0, on: loop)
            let gone = try UDPSocket.bind(host: host, port: 0, on: loop)
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
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("the kernel puts datagrams together where it can, and reports for the addresses of the socket")
    func options() throws {
        try withDirectory { directory, loop in
            let unix = try UnixDatagramSocket.bind(path: directory + "/socket", on: loop)
            #expect((unix.transport as? UVDatagrams)?.maximumSegment == 0)
            for host in loopbackHosts + ["0.0.0.0", "::"].prefix(loopbackHosts.count) {
                let socket = try UDPSocket.bind(host: host, port: 0, on: loop)
                let transport = try #require(socket.transport as? UVDatagrams)
                func option(_ level: Int, _ name: CInt) -> CInt? {
                    socketOption(name, at: CInt(level), of: transport.descriptor)
                }
                #expect(transport.maximumSegment == 65_507)
                #expect(option(IPPROTO_UDP, CInt(OPTION_UDP_GRO)) == 1)
                #expect(option(IPPROTO_IP, IP_PKTINFO) == (host == "0.0.0.0" || host == "::" ? 1 : 0))
                #expect(option(IPPROTO_IP, IP_MULTICAST_ALL) == 0)
                #expect(option(IPPROTO_IP, IP_RECVERR) == 1)
                if host.contains(":") {
                    #expect(option(IPPROTO_IPV6, IPV6_RECVERR) == 1)
                    #expect(option(IPPROTO_IPV6, IPV6_RECVPKTINFO) == 1)
                    #expect(option(IPPROTO_IPV6, CInt(OPTION_IPV6_MULTICAST_ALL)) == 0)
                }
                try loop.run(until: socket.close())
                #expect(socket.statistics.dropped == 0)
            }
            try loop.run(until: unix.close())
        }
    }

    @Test(
        "options are set for the family of the socket, and what the system refuses is told",
        arguments: loopbackHosts)
    func ownOptions(host: String) throws {
        try withLoop { loop in
            let socket = try UDPSocket.bind(host: host, port: 0, on: loop)
            let transport = try #require(socket.transport as? UVDatagrams)
            let isIPv6 = host.contains(":")
            func option(_ ipv4: CInt, _ ipv6: CInt) -> CInt? {
                let level = CInt(isIPv6 ? IPPROTO_IPV6 : IPPROTO_IP)
                return socketOption(isIPv6 ? ipv6 : ipv4, at: level, of: transport.descriptor)
            }
            try socket.setTimeToLive(7)
            #expect(option(IP_TTL, IPV6_UNICAST_HOPS) == 7)
            try socket.setMulticastTimeToLive(9)
            #expect(option(IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS) == 9)
            try socket.setMulticastLoopback(false)
            #expect(option(IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP) == 0)
            try socket.setMulticastInterface("lo")
            if isIPv6 { #expect(option(0, IPV6_MULTICAST_IF) == 1) }
            let refusal = "set option \(isIPv6 ? "ENODEV" : "EADDRNOTAVAIL") \(socket.localAddress): "
            #expect(complaint { try socket.setMulticastInterface("999999") }?.hasPrefix(refusal) == true)
            try loop.run(until: socket.close())
        }
    }

    @Test("a socket for which the kernel does not cut datagrams sends them one by one")
    func uncut() throws {
        try withSockets(.system) { loop, server, _ in
            let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
            // Without checksums, it does not.
            #expect(setSocketOption(SOL_SOCKET, SO_NO_CHECK, 1, of: descriptor) == 0)
            let sender = try UDPSocket(adopting: descriptor, on: loop)
            let sizes = [300, 300, 200, 400]
            try loop.run(
                until: sender.send(contentsOf: sizes.map { Data(count: $0) }, to: server.localAddress))
            for size in sizes { #expect(try loop.run(until: server.receive()).bytes.count == size) }
            #expect((sender.transport as? UVDatagrams)?.maximumSegment == 299)
            try loop.run(until: sender.close())
        }
    }

    @Test("the loop keeps the memory for datagrams until the last of its sockets is closed")
    func memory() throws {
        try withLoop { loop in
            let driver = loop.uv
            for _ in 0..<2 {
                let first = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                let second = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                weak let block = driver.datagrams
                #expect(block != nil)
                try loop.run(until: first.close())
                #expect(driver.datagrams === block && block != nil)
                try loop.run(until: second.close())
                #expect(driver.datagrams == nil)
            }
        }
    }

    @Test("small datagrams of the UNIX domain stay apart")
    func apart() throws {
        try withDirectory { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/socket", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/socket", on: loop)
            for text in ["a", "b", "c"] { client.send(text) }
            for text in ["a", "b", "c"] {
                #expect(try loop.run(until: server.receive()).bytes == Data(text.utf8))
            }
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test(
        "datagrams that the kernel has put together come each with its source and its size",
        arguments: [
            [Int](repeating: 300, count: 60) + [299], [Int](repeating: 1, count: 61), [300, 300],
            [300, 299, 299, 300, 1, 1], [7, 0, 7, 7],
        ])
    func together(sizes: [Int]) throws {
        try withSockets(.system) { loop, server, client in
            let peer = try UDPSocket.connect(to: server.localAddress, on: loop)
            try server.setReceiveBufferSize(1_000_000)
            var heard: [(Int, SocketAddress?)] = []
            let reading = server.forEachDatagram { bytes, header in
                heard.append((bytes.byteCount, header.source))
            }
            for socket in [client, peer] {
                let target = socket === client ? server.localAddress : nil
                try loop.run(until: socket.send(contentsOf: sizes.map { Data(count: $0) }, to: target))
            }
            try loop.runUntil { heard.count == 2 * sizes.count }
            for (sender, socket) in [client, peer].enumerated() {
                let own = heard[(sender * sizes.count)...].prefix(sizes.count)
                #expect(own.map(\.0) == sizes)
                #expect(own.allSatisfy { $0.1 == socket.localAddress })
            }
            reading.cancel()
            try loop.run(until: peer.close())
        }
    }

    private final class Counter { var count = 0 }
}
