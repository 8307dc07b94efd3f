import FoundationEssentials
import FuturesTesting
import UVFutures

extension Micro {
    /// Five simulated hosts, each of which sends its neighbour a message of 64 bytes every 10 ms; so many messages.
    func simulatedMessages(_ count: Int) throws {
        let (names, message) = (["a", "b", "c", "d", "e"], [UInt8](repeating: 1, count: 64))
        let world = World(seed: 1)
        var received = 0
        for name in names {
            try world.addHost(name) { host in
                _ = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                    connection.forEachChunk { chunk in received += chunk.count }
                }
            }
        }
        for (host, neighbour) in zip(world.hosts, names[1...] + names[..<1]) {
            let connection = try world.run(
                until: TCPConnection.connect(host: neighbour, port: 7, on: host.loop))
            host.loop.repeat(every: .milliseconds(10)) { _ = connection.write(message) }
        }
        try world.run(for: .milliseconds(10 * count / names.count))
        precondition(abs(received / message.count - count) < 20)
    }
    /// A simulated host replaces a file and reads it again; so many times, on a disk with a thousand files.
    func simulatedFiles(_ count: Int) throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        for number in 0..<1000 { host.disk.write("/data/\(number)", "") }
        let directory = try world.run(until: Directory.open("/data", on: host.loop))
        for number in 0..<count {
            let name = "\(number % 1000)"
            try world.run(until: directory.replace(name, with: Data(count: 100)))
            let contents = try world.run(until: directory.contents(of: name))
            precondition(contents.count == 100)
        }
    }

    /// A simulated host connects to another one by name, and closes; so many times.
    func simulatedConnections(_ count: Int) throws {
        let world = World(seed: 1)
        try world.addHost("server") { host in
            _ = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { $0.forEachChunk { _ in } }
        }
        let client = try world.addHost("client")
        for _ in 0..<count {
            let connection = try world.run(
                until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
            try world.run(until: connection.close())
        }
    }

    /// A simulated host sends another one datagrams of 64 bytes, by name; so many.
    func simulatedDatagrams(_ count: Int) throws {
        let world = World(seed: 1)
        let (server, client) = (try world.addHost("server"), try world.addHost("client"))
        let receiver = try UDPSocket.bind(host: "0.0.0.0", port: 7, on: server.loop)
        let sender = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: client.loop)
        let address = try world.run(
            until: client.loop.resolver.resolve("server", port: 7, on: client.loop))[0]
        for _ in 0..<count {
            let received = receiver.receive()
            try world.run(until: sender.send(Data(count: 64), to: address))
            let datagram = try world.run(until: received)
            precondition(datagram.bytes.count == 64)
        }
    }
}
