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
}
