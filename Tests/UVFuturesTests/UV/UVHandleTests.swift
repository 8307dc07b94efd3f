import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct UVHandleTests {
    @Test("a connection that is being closed has nothing left to send", arguments: TestNetwork.allCases)
    func closing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let name = "connection \(client.localAddress!) – \(client.peerAddress!)"
            client.write(Data(count: 10_000_000)).ignoreFailure()
            try loop.run(for: .milliseconds(1))
            client.abort()
            #expect(
                loop.dump().contains("\(name), not reading, 0 bytes unsent, closing"), "\(loop.dump())")
            server.abort()
        }
    }

    @Test("a dump lists the open handles, each in a line of its own")
    func handles() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let client = try loop.connect(to: listener.localAddress)
            let server = try loop.run(until: listener.accept())
            let (read, line) = (server.read(), #line)
            let signal = loop.signal(.user1)
            var ends: [CInt] = [0, 0]
            #expect(unsafe uv_pipe(&ends, 0, 0) == 0)
            let watch = try loop.watch(descriptor: ends[0])
            let readable = watch.readable
            let lines = Set(loop.dump().split(separator: "\n").map(String.init))
            let (local, remote) = (listener.localAddress, client.localAddress!)
            #expect(lines.contains("handle: listener \(local), not accepting"))
            #expect(lines.contains("handle: connection \(local) – \(remote), reading, 0 bytes unsent"))
            #expect(lines.contains("handle: connection \(remote) – \(local), not reading, 0 bytes unsent"))
            #expect(lines.contains("handle: signal 10"))
            #expect(lines.contains("handle: watch of descriptor \(ends[0]), waiting"))
            #if DEBUG
                // The line of the call, and not the one in the library where the promise of a read is made.
                #expect(lines.contains("a promise made at UV/UVHandleTests.swift:\(line)"))
            #else
                _ = line
            #endif
            #expect(lines.contains { $0.contains("5 handles, of which 2 are connections") })
            signal.cancel()
            readable.cancel()
            try loop.run(until: watch.close())
            for end in ends { close(end) }
            let closed = client.close()
            _ = try loop.run(until: listener.close().and(read))
            loop.closeAll(server)
            try loop.run(until: closed)
        }
    }

    @Test("a dump tells what waits for nothing, and what is being closed")
    func idle() throws {
        try withLoop { loop in
            let stream = try DescriptorStream(adopting: file(), on: loop)
            var ends: [CInt] = [0, 0]
            #expect(unsafe uv_pipe(&ends, 0, 0) == 0)
            let watch = try loop.watch(descriptor: ends[0])
            func lines() -> Set<Substring> { Set(loop.dump().split(separator: "\n")) }
            #expect(lines().contains("handle: watch of descriptor \(ends[0]), not waiting"))
            #expect(lines().contains { $0.hasPrefix("handle: file of descriptor ") })
            let closed = watch.close()
            #expect(lines().contains("handle: watch of descriptor \(ends[0]), not waiting, closing"))
            _ = try loop.run(until: closed.and(stream.close()))
            for end in ends { close(end) }
        }
    }
}
