import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// What a peer does to a connection on which nobody reads.
struct UVHangUpsTests {
    @Test("a reset is seen though nobody has begun to read", arguments: TestNetwork.allCases)
    func beforeFirstRead(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            client.abort()
            let error = loop.failure(ofEnd: server)
            #expect((error as? UVError)?.code == .connectionReset)
            #expect("\(error!)".hasPrefix("read ECONNRESET \(server.peerAddress!)"))
            #expect(loop.failure(of: server.read()) as? UVError == error as? UVError)
        }
    }

    @Test(
        "a reset is seen while reading is paused; what has been read before stays readable",
        arguments: TestNetwork.allCases)
    func whilePaused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            client.write(pattern(4_000_000))
            #expect(try loop.run(until: server.read(exactly: 1))?.count == 1)
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
            client.abort()
            let error = loop.failure(ofEnd: server) as? UVError
            #expect(error?.code == .connectionReset)
            let rest = try loop.run(until: server.read())
            #expect(rest == pattern(rest.count, from: 1))
        }
    }

    @Test("a reset is seen after the end of what the peer sent", arguments: TestNetwork.allCases)
    func afterEnd(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            client.shutdownWrite()
            #expect(try loop.run(until: server.read()).isEmpty)
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            client.abort()
            #expect((loop.failure(ofEnd: server) as? UVError)?.code == .connectionReset)
        }
    }

    @Test(
        "a connection that is paused and read again, over and over, is none the worse for it",
        arguments: TestNetwork.allCases)
    func pausedOften(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let sent = pattern(20_000_000)
            client.write(sent)
            client.shutdownWrite()
            var received = Data()
            try loop.run(
                until: server.forEachChunk { chunk in
                    received += chunk
                    return received.count % 3 == 0 ? loop.sleep(for: .milliseconds(1)) : loop.succeeded()
                })
            #expect(received == sent)
            client.abort()
            #expect((loop.failure(ofEnd: server) as? UVError)?.code == .connectionReset)
        }
    }

    @Test(
        "hung-up connections on which nobody reads cost no time", arguments: HangUp.allCases,
        TestNetwork.allCases)
    func costNothing(_ hangUp: HangUp, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var servers: [TCPConnection] = []
            for _ in 0..<20 {
                let (client, server) = try loop.connectedPair()
                if hangUp != .beforeRead {
                    client.write(pattern(200_000))
                    #expect(try loop.run(until: server.read(exactly: 1))?.count == 1)
                }
                switch hangUp {
                case .end, .beforeRead: client.close()
                case .reset: client.abort()
                case .bothEnded:
                    client.shutdownWrite()
                    server.shutdownWrite()
                    client.close(within: .milliseconds(1))
                }
                servers.append(server)
            }
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
            let (turns, used) = (loop.statistics.turns, cpuTime())
            try loop.run(until: loop.sleep(for: .milliseconds(500)))
            #expect(loop.statistics.turns - turns < 50)
            #expect(
                cpuTime() - used < .milliseconds(50), "a tenth of a core, and a busy loop would use all of it"
            )
            for server in servers { server.abort() }
        }
    }

    @Test(
        "the last words reach a peer that was still sending when the connection was closed",
        arguments: 0..<20, TestNetwork.allCases)
    func lingers(_: Int, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let sending = client.write(pattern(1_000_000))
            #expect(try loop.run(until: server.read(exactly: 100))?.count == 100)
            server.write("413 too much\n")
            let closed = server.close()
            #expect(try loop.run(until: client.readLine()) == Data("413 too much".utf8))
            try loop.run(until: sending)
            loop.closeAll(client)
            try loop.run(until: closed)
        }
    }

    enum HangUp: CaseIterable {
        case end, reset, bothEnded, beforeRead
    }
}
