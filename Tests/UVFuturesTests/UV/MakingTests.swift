import FuturesTesting
import Testing
import UVFutures

struct MakingTests {
    @Test("a port is shared if both sockets want to", arguments: TestNetwork.allCases)
    func sharing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            for (isFirst, isSecond) in [(false, false), (true, false), (false, true), (true, true)] {
                let first = try UDPSocket.bind(host: "127.0.0.1", port: 0, sharingPort: isFirst, on: loop)
                let port = first.localAddress.port
                let second = try? UDPSocket.bind(
                    host: "127.0.0.1", port: port, sharingPort: isSecond, on: loop)
                #expect((second != nil) == (isFirst && isSecond))
                // A wildcard overlaps each address of its port.
                #expect(throws: SystemError.self) {
                    try UDPSocket.bind(host: "0.0.0.0", port: port, on: loop)
                }
                let other = try UDPSocket.bind(host: "127.0.0.2", port: port, on: loop)
                for socket in [first, second, other] {
                    if let socket { try loop.run(until: socket.close()) }
                }
                let again = try UDPSocket.bind(host: "127.0.0.1", port: port, on: loop)
                try loop.run(until: again.close())
            }
        }
    }

    @Test("a connected socket has the address that leads to its peer", arguments: TestNetwork.allCases)
    func connected(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            let peer = server.localAddress
            let chosen = try UDPSocket.connect(to: peer, on: loop)
            #expect(chosen.localAddress.host == "127.0.0.1" && chosen.localAddress.port > 0)
            let given = try UDPSocket.connect(
                to: peer, from: SocketAddress(host: "127.0.0.5", port: 0), on: loop)
            #expect(given.localAddress.host == "127.0.0.5" && given.localAddress.port > 0)
            for socket in [chosen, given] {
                socket.send("x")
                #expect(try loop.run(until: server.receive()).source == socket.localAddress)
                try loop.run(until: socket.close())
            }
            let error = #expect(throws: SystemError.self) {
                try UDPSocket.connect(to: peer, from: SocketAddress(host: "192.0.2.1", port: 0), on: loop)
            }
            #expect(error?.operation == "bind" && error?.code == .addressNotAvailable)
        }
    }
}
