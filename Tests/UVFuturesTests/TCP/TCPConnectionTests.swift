import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct TCPConnectionTests {
    @Test("what one end writes the other one reads", arguments: loopbackHosts, TestNetwork.allCases)
    func readsAndWrites(host: String, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: host, port: 0, on: loop)
            let client = try loop.connect(to: listener.localAddress)
            let server = try loop.run(until: listener.accept())
            client.write("a string")
            #expect(try loop.run(until: server.read(exactly: 8)) == Data("a string".utf8))
            server.write([1, 2, 3])
            #expect(try loop.run(until: client.read()) == Data([1, 2, 3]))
            loop.closeAll(client, server)
        }
    }

    @Test("an end that has finished sending still reads", arguments: [false, true], TestNetwork.allCases)
    func halfClose(serverFirst: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let (first, second) = serverFirst ? (server, client) : (client, server)
            first.write("last words")
            try loop.run(until: first.shutdownWrite())
            #expect(try loop.run(until: second.readToEnd(limit: 100)) == Data("last words".utf8))
            let answer = Data(repeating: 7, count: 1_000_000)
            second.write(answer)
            second.shutdownWrite()
            #expect(try loop.run(until: first.readToEnd(limit: 2_000_000)) == answer)
            loop.closeAll(client, server)
        }
    }

    @Test("a reset is seen by the other end, and says where it happened", arguments: TestNetwork.allCases)
    func reset(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let read = server.read()
            let address = client.localAddress!
            client.abort()
            let error = loop.failure(of: read)
            #expect("\(error!)" == "read ECONNRESET \(address): connection reset by peer")
            #expect((error as? SystemError)?.localAddress == server.localAddress)
            #expect(loop.failure(ofEnd: server) as? SystemError == error as? SystemError)
            #expect(loop.failure(of: server.write("late")) as? SystemError == error as? SystemError)
            try loop.run(until: client.closed)
        }
    }

    @Test("aborting after a shutdown resets as well", arguments: TestNetwork.allCases)
    func resetAfterShutdown(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            try loop.run(until: client.shutdownWrite())
            #expect(try loop.run(until: server.read()).isEmpty)
            client.abort()
            try loop.run(until: client.closed)
            // A reset may answer the first write, and the second at the latest.
            _ = loop.outcome(of: server.write("a"))
            _ = loop.outcome(of: loop.sleep(for: .milliseconds(1)))
            #expect(loop.failure(of: server.write("b")) != nil)
            _ = loop.outcome(of: server.close())
        }
    }

    @Test(
        "closing twice is closing once; reads and writes fail from then on", arguments: TestNetwork.allCases)
    func closesOnce(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let read = client.read()
            let closing = [client.close(), client.close(), client.closed]
            #expect(loop.failure(of: read) as? StreamError == .connectionClosed)
            #expect(try loop.run(until: server.read()).isEmpty)
            loop.closeAll(server)
            for future in closing { try loop.run(until: future) }
            #expect(loop.failure(of: client.read()) as? StreamError == .connectionClosed)
            #expect(loop.failure(of: client.write("late")) as? StreamError == .connectionClosed)
            #expect(loop.failure(of: client.shutdownWrite()) as? StreamError == .connectionClosed)
            #expect(throws: StreamError.connectionClosed) { try client.setKeepAlive(after: .seconds(1)) }
        }
    }

    @Test("close sends what has been written first", arguments: TestNetwork.allCases)
    func closeFlushes(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let sent = pattern(32_000_000)
            let write = client.write(sent)
            let closed = client.close()
            #expect(!write.isCompleted)
            #expect(try loop.run(until: server.readToEnd(limit: 40_000_000)) == sent)
            loop.closeAll(server)
            try loop.run(until: closed)
            #expect(throws: Never.self) { try write.result?.get() }
        }
    }

    @Test(
        "aborting fails a write that is under way, and everything before closed",
        arguments: TestNetwork.allCases)
    func abortWhileWriting(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            var order: [String] = []
            client.write(pattern(32_000_000)).whenFailure { _ in order.append("write") }
            client.read().whenFailure { _ in order.append("read") }
            client.closed.whenComplete { _ in order.append("closed") }
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            client.abort()
            try loop.run(until: client.closed)
            #expect(order.last == "closed")
            #expect(Set(order) == ["write", "read", "closed"])
            server.abort()
        }
    }

    @Test("a peer is held back when nobody reads", arguments: TestNetwork.allCases)
    func holdsBack(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let write = client.write(pattern(32_000_000))
            #expect(try loop.run(until: server.read(exactly: 1))?.count == 1)
            try loop.run(until: loop.sleep(for: .milliseconds(50)))
            #expect(!write.isCompleted)
            #expect(client.bufferedBytes > 1_000_000)
            let rest = try loop.run(until: server.read(exactly: 31_999_999))
            #expect(rest == pattern(32_000_000).dropFirst())
            try loop.run(until: write)
            loop.closeAll(client, server)
        }
    }

    @Test("options can be set, and make no sense when out of range", arguments: TestNetwork.allCases)
    func options(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            #expect(client.noDelay)
            client.noDelay = false
            client.noDelay = true
            loop.closeAll(client, server)
        }
    }

    @Test(
        "writing to a peer that has gone is an error of the connection, not the end of the process",
        arguments: TestNetwork.allCases)
    func peerHasGone(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = network == .system ? PlainSocket.bound(backlog: 1) : nil
            let simulated = network == .system ? nil : try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener?.port ?? simulated!.localAddress.port
            let client = try loop.run(until: TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
            if let listener { close(accept(listener.descriptor, nil, nil)) }
            if let simulated {
                let server = try loop.run(until: simulated.accept())
                try loop.run(until: server.close(within: .zero))
            }
            #expect(try loop.run(until: client.read()).isEmpty)
            var error: (any Error)?
            while error == nil {
                error = loop.failure(of: client.write("anybody there?"))
                try loop.run(until: loop.sleep(for: .zero))
            }
            #expect([.brokenPipe, .connectionReset].contains((error as? SystemError)?.code))
            #expect(loop.failure(ofEnd: client) != nil)
        }
    }
}

/// Bytes that look alike only if they are the right ones: a piece of a long sequence.
func pattern(_ count: Int, from start: Int = 0) -> Data {
    var bytes = Data(capacity: count)
    while bytes.count < count {
        let offset = (start + bytes.count) % sequence.count
        bytes += sequence[offset..<min(sequence.count, offset + count - bytes.count)]
    }
    return bytes
}

private let sequence = (0..<65_521).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
