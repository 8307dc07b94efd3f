import CFuturesTLS
import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
import Testing

struct TLSTransportTests {
    /// How many bytes a client and a server send in a whole handshake and exchange.
    private func measure(_ loop: EventLoop, _ version: TLSVersion) throws -> (
        handshake: (Int, Int), all: (Int, Int)
    ) {
        let relay = try Relay(on: loop)
        let (client, server) = try handshake(relay, loop, version)
        let connections = try (loop.run(until: client), loop.run(until: server))
        loop.advance(by: .seconds(1))
        let handshake = relay.passed
        connections.0.write("a line of the client\n")
        _ = try loop.run(until: connections.1.readLine())
        connections.1.write("a line of the server\n")
        _ = try loop.run(until: connections.0.readLine())
        let all = relay.passed
        relay.end()
        connections.0.abort()
        connections.1.abort()
        return (handshake, all)
    }

    private func handshake(
        _ relay: Relay, _ loop: EventLoop, _ version: TLSVersion
    ) throws -> (Future<TLSConnection>, Future<TLSConnection>) {
        var configuration = TLSServerConfiguration.usual
        configuration.parameters.versions = version...version
        // Signatures of RSA all have one length.
        configuration.identity = Self.identity
        let server = relay.far.startTLS(server: try loop.server(configuration))
        return (relay.near.startTLS(client: try loop.client(), host: "localhost"), server)
    }

    private static let authority = Authority.root.sign(Wish(), key: .rsa)
    /// Made anew each time: what looks for leaks does not find the bytes of a static `Data`.
    private static var identity: TLSIdentity { authority.identity() }

    @Test(
        "a handshake that is cut at any byte fails on both sides, and leaves nothing",
        arguments: [TLSVersion.tls12, .tls13], [false, true])
    func cutHandshake(version: TLSVersion, resets: Bool) throws {
        try withLoop { loop in
            let whole = try measure(loop, version).handshake
            for byClient in [true, false] {
                let size = byClient ? whole.0 : whole.1
                // A client of TLS 1.3 is done before the tickets come.
                let needed = !byClient && version == .tls13 ? size - 600 : size
                for count in stride(from: 0, to: needed, by: isFull ? 1 : 13 * slowShare) {
                    let relay = try Relay(on: loop)
                    relay.resets = resets
                    if byClient { relay.limits.0 = count } else { relay.limits.1 = count }
                    let (client, server) = try handshake(relay, loop, version)
                    let cut = byClient ? server : client
                    let error = loop.failure(of: cut)
                    #expect(error != nil && error!.isDisconnection, "\(byClient) \(count): \(error as Any)")
                    if !resets { #expect(reason(error) == .handshakeCut) }
                    relay.end()
                    for future in [client, server] { future.ignoreFailure().whenSuccess { $0.abort() } }
                    loop.advance(by: .seconds(20))
                }
            }
        }
    }

    @Test("records begin small, and grow when much has been written")
    func recordSizes() throws {
        try withLoop { loop in
            let relay = try Relay(on: loop)
            var bytes = Data()
            relay.change = { bytes += $0 }
            let (client, server) = try handshake(relay, loop, .tls13)
            let (writer, reader) = (try loop.run(until: client), try loop.run(until: server))
            let size = 400_000
            reader.forEachChunk { _ in }.ignoreFailure()
            // So they do not grow where a record would end anyway.
            writer.write("a small write")
            loop.advance(by: .seconds(1))
            try loop.run(until: writer.write(Data(count: size)))
            loop.advance(by: .seconds(1))
            // Each record has its type, the version, and its size.
            var sizes: [Int] = []
            while bytes.count >= 5 {
                let head = [UInt8](bytes.prefix(5))
                sizes.append(Int(head[3]) << 8 | Int(head[4]))
                bytes = bytes.dropFirst(5 + sizes.last!)
            }
            // What encryption adds to the bytes.
            let added = 17
            let small = sizes.count { $0 == 4096 + added }
            let large = sizes.count { $0 == 16_384 + added }
            #expect(small == 15 && large >= (size - 131_072) / 16_384, "\(sizes)")
            relay.end()
            for end in [writer, reader] { end.abort() }
        }
    }

    private let isFull = ProcessInfo.processInfo.environment["SOAK"] != nil

    @Test(
        "an exchange that is cut at any byte never ends in order", arguments: [TLSVersion.tls12, .tls13],
        [false, true])
    func truncation(version: TLSVersion, resets: Bool) throws {
        try withLoop { loop in
            let (start, whole) = try measure(loop, version)
            for count in stride(from: start.0, to: whole.0, by: isSanitized ? 3 : 1) {
                let relay = try Relay(on: loop)
                let (client, server) = try handshake(relay, loop, version)
                let connections = try (loop.run(until: client), loop.run(until: server))
                loop.advance(by: .seconds(1))
                relay.resets = resets
                relay.limits.0 = count
                connections.0.write("a line of the client\n")
                let error = loop.failure(of: connections.1.readToEnd())
                #expect(error != nil && error!.isDisconnection, "\(count): \(error as Any)")
                if !resets { #expect(reason(error) == .truncated) }
                relay.end()
                connections.0.abort()
            }
        }
    }

    @Test("records that come byte by byte, while nobody reads, are whole")
    func byteByByte() throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: 1)
            for text in ["hello", "again"] {
                pair.client.write(text)
                loop.advance(by: .seconds(1))
                #expect(try loop.run(until: pair.server.read(exactly: 5)) == Data(text.utf8))
            }
            for end in [pair.client, pair.server] { end.abort() }
        }
    }

    @Test("what came before a truncation can be read, and then comes the error")
    func beforeTruncation() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            pair.client.write("hello")
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            pair.client.underlying.shutdownWrite()
            #expect(try loop.run(until: pair.server.read()) == Data("hello".utf8))
            let error = loop.failure(of: pair.server.read())
            #expect(
                "\(error!)"
                    == "TLS with MemoryStream: the peer has closed the connection without close_notify; the "
                    + "received data may be cut off, so do not use it")
            #expect(reason(loop.failure(of: pair.server.closed)) == .truncated)
            pair.client.abort()
        }
    }

    @Test("all that came before a reset can be read, and then comes the error")
    func beforeReset() throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: 4_000_000)
            let sent = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
            try loop.run(until: pair.client.write(sent))
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            pair.client.abort()
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            var received = Data()
            let read = pair.server.forEachChunk { received += $0 }
            #expect(loop.failure(of: read) != nil)
            #expect(received == sent, "\(received.count) bytes")
            pair.server.closed.ignoreFailure()
        }
    }

    @Test(
        "records that have come together are decrypted in several turns, and come whole, if a turn has no time",
        arguments: [1, 500, 100_000])
    func turns(size: Int) throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: 4_000_000)
            loop.core.setTurnShare(.zero, stride: 0)
            let sent = Data(
                (0..<(size == 1 ? 10_000 : 1_000_000)).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
            var rest = sent
            while !rest.isEmpty {
                pair.client.write(rest.prefix(size))
                rest = rest.dropFirst(size)
                // Each has a record of its own.
                if size == 1 { try loop.run(until: loop.submit(on: .nextTurn) {}) }
            }
            var (received, turns, isOver) = (Data(), 0, false)
            func countTurns() {
                turns += 1
                if !isOver { loop.later(on: .nextTurn, countTurns) }
            }
            countTurns()
            pair.client.shutdownWrite()
            let read = pair.server.forEachSpan { bytes in received += Data(copying: bytes) }
            try loop.run(until: read.always { isOver = true })
            #expect(received == sent)
            // A turn decrypts 64 records, or 64 KiB.
            #expect(turns > (size == 1 ? 100 : 10), "\(turns) turns")
            pair.client.abort()
            pair.server.abort()
        }
    }

    @Test("a peer that asks for new keys without end, and reads nothing, is not read meanwhile")
    func keysWithoutEnd() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            let received = pair.server.readToEnd()
            // The first byte of the client's waits unread, and everything behind it.
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            for _ in 0..<10_000 { #expect(pair.client.renewKeys()) }
            loop.advance(by: .seconds(1))
            // Each answer has 27 bytes. What the peer's system takes, the peer's buffer of 64 KiB, does not wait.
            #expect(pair.server.underlying.bufferedBytes < 64_000)
            #expect(pair.server.isOpen && pair.client.underlying.bufferedBytes > 0)
            let answer = pair.client.readLine()
            pair.server.write("an answer\n")
            #expect(try loop.run(until: answer) == Data("an answer".utf8))
            pair.client.write("the end")
            pair.client.shutdownWrite()
            #expect(try loop.run(until: received) == Data("the end".utf8))
            try loop.close(pair)
        }
    }

    @Test("new keys without end leave others their turn")
    func keysAndTurns() throws {
        try withLoop(.system) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener.localAddress.port
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
            let (near, far) = try loop.run(until: connecting.and(listener.accept()))
            let server = far.startTLS(server: try loop.server())
            let client = near.startTLS(client: try loop.client(), host: "localhost")
            let pair = Pair(client: try loop.run(until: client), server: try loop.run(until: server))
            loop.core.setTurnShare(.zero, stride: 0)
            for _ in 0..<10_000 { #expect(pair.client.renewKeys()) }
            pair.client.write("a line\n")
            var (turns, isOver) = (0, false)
            func countTurns() {
                turns += 1
                if !isOver { loop.later(on: .nextTurn, countTurns) }
            }
            countTurns()
            let line = pair.server.readLine()
            let answers = pair.client.read()
            #expect(try loop.run(until: line) == Data("a line".utf8))
            isOver = true
            // A call takes 17,408 bytes, which are 644 records.
            #expect(turns > 8, "\(turns) turns")
            answers.cancel()
            try loop.run(until: listener.close())
            try loop.close(pair)
        }
    }

    @Test("small writes of a turn share a record, and a larger one does not wait")
    func sharing() throws {
        try withLoop { loop in
            let relay = try Relay(on: loop)
            let server = relay.far.startTLS(server: try loop.server())
            let client = try loop.run(
                until: relay.near.startTLS(client: try loop.client(), host: "localhost"))
            let connection = try loop.run(until: server)
            loop.advance(by: .seconds(1))
            let before = relay.passed.0
            for _ in 0..<100 { client.write("0123456789") }
            #expect(try loop.run(until: connection.read(exactly: 1000))?.count == 1000)
            // A record has 5 bytes in front, and 17 behind.
            #expect(relay.passed.0 - before == 1022)
            relay.end()
            connection.abort()
            client.abort()
        }
    }

    @Test("bytes that another code has left in the queue of errors harm nobody, and none are left there")
    func errorQueue() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            tls_leave_error()
            #expect(tls_has_error())
            pair.client.write("hello\n")
            #expect(try loop.run(until: pair.server.readLine()) == Data("hello".utf8))
            #expect(!tls_has_error())
            tls_leave_error()
            let more = try loop.pair()
            #expect(!tls_has_error())
            var refused = TLSServerConfiguration.usual
            refused.identity = Authority(Wish()).identity()
            #expect(
                reason(try loop.failures(try loop.server(refused), try loop.client()).client) == .selfSigned)
            #expect(!tls_has_error())
            try loop.close(more)
            try loop.close(pair)
        }
    }

    @Test("encryption within encryption")
    func twice() throws {
        try withLoop { loop in
            let (serverContext, clientContext) = try (loop.server(), loop.client())
            let outer = try loop.pair(serverContext, clientContext)
            let server = outer.server.startTLS(server: serverContext)
            let client = try loop.run(until: outer.client.startTLS(client: clientContext, host: "localhost"))
            let inner = Pair(client: client, server: try loop.run(until: server))
            let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
            inner.client.write(bytes)
            #expect(try loop.run(until: inner.server.read(exactly: bytes.count)) == bytes)
            try loop.close(inner)
        }
    }

    @Test("a close that the peer does not take fails, and a reset ends both")
    func ends() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            pair.client.write(Data(count: 1_000_000))
            let error = loop.failure(of: pair.client.close(within: .seconds(1)))
            guard case .flushTimedOut? = error as? StreamError else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(loop.failure(of: pair.server.readToEnd()) != nil)
            let other = try loop.pair()
            other.client.abort()
            #expect(loop.failure(of: other.server.read())?.isDisconnection == true)
        }
    }

    @Test("small writes that cannot leave any more are not lost in silence, and a close keeps to its time")
    func lostSmallWrites() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            (limits.readHighWaterMark, limits.readLowWaterMark) = (10, 5)
            let pair = try loop.pair(limits: limits, capacity: 100)
            let start = loop.now
            for _ in 0..<100 { #expect(pair.client.write("0123456789").isSuccess) }
            let error = loop.failure(of: pair.client.close(within: .seconds(1)))
            guard case .flushTimedOut(_, let unsent)? = error as? StreamError else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(unsent > 0 && start.duration(to: loop.now) == .seconds(1))
            #expect(loop.failure(of: pair.server.readToEnd())?.isDisconnection == true)
            pair.server.abort()
        }
    }

    @Test("time limits of an encrypted connection hold")
    func limits() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            limits.idleTimeout = .seconds(5)
            let pair = try loop.pair(limits: limits)
            let error = loop.failure(of: pair.server.read())
            guard case .timedOut(.idle, _, _, _)? = error as? StreamError else {
                Issue.record("\(error as Any)")
                return
            }
            pair.client.abort()
        }
    }
}
