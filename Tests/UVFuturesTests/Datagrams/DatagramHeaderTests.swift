import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct DatagramHeaderTests {
    @Test("a header begins with what all know, and equal ones are equal")
    func values() throws {
        let (source, destination) = (
            try SocketAddress(host: "10.0.0.1", port: 1), try SocketAddress(host: "10.0.0.2", port: 2)
        )
        let bytes = Data([1, 2])
        var header = DatagramHeader(source: source, destination: destination)
        #expect(header.localAddress == destination && header.interface == 0 && !header.isTruncated)
        let datagram = Datagram(bytes, header)
        #expect(datagram.source == source && !datagram.isTruncated)
        header.isTruncated = true
        #expect(Datagram(bytes, header).isTruncated && datagram != Datagram(bytes, header))
        #expect(Datagram(bytes).source == nil)
    }

    @Test("a wildcard socket tells the interface, and another does not", arguments: ["0.0.0.0", "127.0.0.1"])
    func interface(host: String) throws {
        try withLoop { loop in
            let server = try UDPSocket.bind(host: host, port: 0, on: loop)
            let client = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            client.send("x", to: try SocketAddress(host: "127.0.0.1", port: server.localAddress.port))
            let header = try loop.run(until: server.receive()).header
            #expect(header.interface == (host == "0.0.0.0" ? unsafe if_nametoindex("lo") : 0))
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("a datagram to an address of a link tells it with its interface", .enabled(if: linkAddress != nil))
    func linkLocal() throws {
        try withLoop { loop in
            let server = try UDPSocket.bind(host: "::", port: 0, on: loop)
            let client = try UDPSocket.bind(host: "::", port: 0, on: loop)
            let target = try SocketAddress(host: linkAddress!, port: server.localAddress.port)
            client.send("hello", to: target)
            let header = try loop.run(until: server.receive()).header
            #expect(header.destination == target && header.localAddress == target)
            #expect(header.destination?.host.contains("%") == true)
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }
}

/// An address of this machine that is valid on one link only, with the interface. `nil` if there is none.
private let linkAddress: String? = {
    // The address, the number of the interface, the length of the prefix, the scope, the flags, the name.
    let lines = contents("/proc/net/if_inet6")?.split(separator: "\n").map { $0.split(separator: " ") } ?? []
    guard let words = lines.first(where: { $0.count == 6 && $0[3] == "20" }) else { return nil }
    let digits = Array(words[0])
    let groups = stride(from: 0, to: 32, by: 4).map { String(digits[$0..<$0 + 4]) }
    return groups.joined(separator: ":") + "%" + words[5]
}()
