import CFuturesSystem
import CLibUV
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
            #expect((error as? SystemError)?.code == .connectionReset)
            #expect("\(error!)".hasPrefix("read ECONNRESET \(server.peerAddress!)"))
            #expect(loop.failure(of: server.read()) as? SystemError == error as? SystemError)
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
            let error = loop.failure(ofEnd: server) as? SystemError
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
            #expect((loop.failure(ofEnd: server) as? SystemError)?.code == .connectionReset)
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
            #expect((loop.failure(ofEnd: server) as? SystemError)?.code == .connectionReset)
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

/// What a connection learns of a peer that drops it with unread bytes.
struct DroppedPeerTests {
    struct Case: CustomTestStringConvertible {
        let kind: Kind
        let isAttached, isReading: Bool
        /// Whether the peer, or this side, has finished sending before.
        let peerHasEnded, hasEnded: Bool

        /// TCP has closed a connection that both sides have ended, and has nothing to reset.
        var isReset: Bool { kind != .tcp || !(peerHasEnded && hasEnded) }

        var testDescription: String {
            let words = [
                isAttached ? "attached" : "own loop", isReading ? "reading" : nil,
                peerHasEnded ? "peer has ended" : nil, hasEnded ? "has ended" : nil,
            ]
            return "\(kind), " + words.compactMap { $0 }.joined(separator: ", ")
        }

        static let all = Kind.allCases.flatMap { kind in
            (0..<16).map { bits in
                Case(
                    kind: kind, isAttached: bits & 1 != 0, isReading: bits & 2 != 0,
                    peerHasEnded: bits & 4 != 0, hasEnded: bits & 8 != 0)
            }
        }
    }

    enum Kind: CaseIterable { case tcp, unix, descriptor }

    /// A loop, and what waits for a future on it.
    private struct Stage {
        let loop: EventLoop
        let host: HostLoop?

        @discardableResult
        func run<Value>(until future: Future<Value>) throws -> Value {
            try host.map { try $0.run(until: future) } ?? loop.run(until: future)
        }

        func pair(of kind: Kind) throws -> (ByteStream, ByteStream) {
            guard kind != .tcp else {
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let port = listener.localAddress.port
                let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
                let pair = try run(until: connecting.and(listener.accept()))
                try run(until: listener.close())
                return pair
            }
            var ends: [CInt] = [0, 0]
            try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            if kind == .unix {
                return try (
                    UnixConnection(adopting: ends[0], on: loop), UnixConnection(adopting: ends[1], on: loop)
                )
            }
            return try (
                DescriptorStream(adopting: ends[0], on: loop), DescriptorStream(adopting: ends[1], on: loop)
            )
        }

        /// Waits until `condition` holds. A stream that nobody reads keeps no loop running.
        func wait(until condition: () -> Bool) throws {
            for _ in 0..<5000 where !condition() { try run(until: loop.sleep(for: .milliseconds(1))) }
        }
    }

    @Test("a peer that drops a connection with unread bytes is noticed", arguments: Case.all)
    func dropped(_ scene: Case) throws {
        // A program that another test starts has copies of the descriptors for a moment. Then the end of a UNIX
        // connection comes before the reset.
        var isReset = false
        for _ in 0..<3 where !isReset {
            if scene.isAttached {
                try withHost { host, loop in isReset = try play(scene, Stage(loop: loop, host: host)) }
            } else {
                try withLoop { isReset = try play(scene, Stage(loop: $0, host: nil)) }
            }
        }
        #expect(isReset)
    }

    /// Whether the reset was not behind an end that the peer has not sent.
    private func play(_ scene: Case, _ stage: Stage) throws -> Bool {
        let (peer, own) = try stage.pair(of: scene.kind)
        let reading = scene.isReading ? own.readToEnd() : nil
        try stage.run(until: own.write("unread").and(peer.write("x")))
        if scene.peerHasEnded { try stage.run(until: peer.shutdownWrite()) }
        if scene.hasEnded { try stage.run(until: own.shutdownWrite()) }
        // The loop waits: from here on the stream is watched, and what has come so far is known.
        try stage.run(until: stage.loop.sleep(for: .milliseconds(2)))
        #expect(!own.closed.isCompleted)
        try stage.run(until: peer.abort())
        guard scene.isReset else {
            try stage.run(until: stage.loop.sleep(for: .milliseconds(2)))
            #expect(!own.closed.isCompleted)
            #expect(try stage.run(until: reading ?? own.readToEnd()) == Data("x".utf8))
            try stage.run(until: own.close())
            return true
        }
        let closed = own.closed
        try stage.wait { closed.isCompleted }
        let error = try #require(throws: (any Error).self) { try stage.run(until: closed) }
        #expect((error as? SystemError)?.code == .connectionReset)
        #expect("\(error)".hasPrefix("read ECONNRESET"))
        if let reading {
            // The end came before the reset, if it came.
            let result = Result { try stage.run(until: reading) }
            return scene.peerHasEnded == ((try? result.get()) == Data("x".utf8))
        }
        #expect(try stage.run(until: own.read()) == Data("x".utf8))
        return true
    }
}
