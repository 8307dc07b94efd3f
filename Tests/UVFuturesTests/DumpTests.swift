import Testing
import UVFutures

struct HandleDumpTests {
    @Test("a dump lists the open handles, each in a line of its own")
    func handles() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let client = try loop.connect(to: listener.localAddress)
            let server = try loop.run(until: listener.accept())
            let read = server.read()
            let signal = loop.signal(.user1)
            let lines = Set(loop.dump().split(separator: "\n").map(String.init))
            let (local, remote) = (listener.localAddress, client.localAddress!)
            #expect(lines.contains("handle: listener \(local), not accepting"))
            #expect(lines.contains("handle: connection \(local) – \(remote), reading, 0 bytes unsent"))
            #expect(lines.contains("handle: connection \(remote) – \(local), not reading, 0 bytes unsent"))
            #expect(lines.contains("handle: signal 10"))
            #if DEBUG
                #expect(lines.contains { $0.hasPrefix("promise: ByteStreams/Reader.swift:") })
            #endif
            #expect(lines.contains { $0.contains("4 handles, of which 2 are connections") })
            signal.cancel()
            let closed = client.close()
            _ = try loop.run(until: listener.close().and(read))
            loop.closeAll(server)
            try loop.run(until: closed)
        }
    }
}
