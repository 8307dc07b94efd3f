import Foundation
import FuturesTesting
import TestSupport
import Testing

@testable import TLSStreams

struct TLSConnectionTests {
    @Test(
        "keys are renewed in TLS 1.3 only, and while the connection is open", arguments: TLSVersion.allCases)
    func newKeys(version: TLSVersion) throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.parameters.versions = version...version
            let pair = try loop.pair(loop.server(configuration))
            let line = pair.server.readLine()
            loop.advance(by: .seconds(1))
            #expect(pair.client.renewKeys() == (version == .tls13))
            pair.client.write("hello\n")
            #expect(try loop.run(until: line) == Data("hello".utf8))
            try loop.close(pair)
            #expect(!pair.client.renewKeys())
        }
    }

    @Test("writes of less than 4096 bytes wait for the end of the turn, or until 16,384 bytes wait")
    func smallWrites() throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: 1_000_000)
            loop.advance(by: .seconds(1))
            #expect(loop.statistics.timers == 0, "the handshake has left none")
            func leaves(_ count: Int) -> Bool {
                let before = pair.client.underlying.bytesSent
                pair.client.write(Data(count: count))
                return pair.client.underlying.bytesSent > before
            }
            #expect(!leaves(4095) && leaves(4096))
            for number in 1...8 { #expect(leaves(2048) == (number == 8), "\(number)") }
            #expect(!leaves(1))
            loop.advance(by: .zero)
            #expect(try loop.run(until: pair.server.read(exactly: 24_576))?.count == 24_576)
            try loop.close(pair)
        }
    }

    @Test(
        "an encrypted connection over memory is a stream as any other", arguments: [TLSVersion.tls12, .tls13])
    func memory(version: TLSVersion) throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.parameters.versions = version...version
            let pair = try loop.pair(loop.server(configuration))
            #expect(pair.client.version == version && pair.server.version == version)
            #expect(pair.client.cipher == pair.server.cipher && !pair.client.cipher.isEmpty)
            #expect(pair.client.peerCertificate?.subject == "CN=server")
            #expect(pair.server.peerCertificate == nil && pair.server.serverName == "localhost")
            #expect(!pair.client.isResumed && pair.client.applicationProtocol == nil)
            pair.client.write("hello\nyou\n")
            #expect(try loop.run(until: pair.server.readLine()) == Data("hello".utf8))
            #expect(try loop.run(until: pair.server.readLine()) == Data("you".utf8))
            pair.server.write("well\n")
            pair.server.shutdownWrite()
            #expect(try loop.run(until: pair.client.readToEnd()) == Data("well\n".utf8))
            // The other direction is still open.
            pair.client.write("bye\n")
            #expect(try loop.run(until: pair.server.readLine()) == Data("bye".utf8))
            try loop.close(pair)
            #expect(pair.client.bytesSent == 14 && pair.server.bytesReceived == 14)
        }
    }

    @Test(
        "a megabyte gets through in both directions at a time, whatever the pieces", arguments: [100, 65_536])
    func bulk(capacity: Int) throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: capacity)
            let bytes = Data(
                (0..<1_000_000 / slowShare).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            var received = [Data(), Data()]
            let ends = [pair.client, pair.server].enumerated().map { index, end in
                end.forEachSpan { received[index].append(Data(copying: $0)) }
            }
            for end in [pair.client, pair.server] {
                for start in stride(from: 0, to: bytes.count, by: 9_999) {
                    end.write(bytes[start..<min(start + 9_999, bytes.count)])
                }
                end.shutdownWrite()
            }
            for end in ends { try loop.run(until: end) }
            #expect(received[0] == bytes && received[1] == bytes)
            try loop.close(pair)
        }
    }

    @Test(
        "the buffers of one write arrive in their order, however much is taken at once",
        arguments: [100, 65_536])
    func buffers(capacity: Int) throws {
        try withLoop { loop in
            let pair = try loop.pair(capacity: capacity)
            let buffers = [
                Data("first".utf8), Data(), Data(repeating: 7, count: 100_000), Data("last".utf8),
            ]
            let all = Data(buffers.joined())
            pair.client.write(buffers)
            pair.client.shutdownWrite()
            #expect(try loop.run(until: pair.server.readToEnd()) == all)
            try loop.close(pair)
            #expect(pair.client.bytesSent == all.count)
        }
    }

    @Test("a reader that pauses holds the sender back, and loses nothing")
    func backpressure() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let write = pair.client.write(bytes)
            let first = try #require(try loop.run(until: pair.server.read(exactly: 10)))
            loop.advance(by: .seconds(1))
            #expect(!write.isCompleted && pair.client.bufferedBytes > 0)
            let rest = try #require(try loop.run(until: pair.server.read(exactly: bytes.count - 10)))
            #expect(first + rest == bytes)
            try loop.run(until: write)
            try loop.close(pair)
        }
    }

    @Test(
        "a peer that has told its end is not waited for, and one that has not is", arguments: [false, true],
        TestNetwork.allCases)
    func lingering(tells: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var closed: Future<Void>?
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection -> Future<Void> in
                closed = connection.closed
                if !tells { return connection.write("a") }
                return connection.forEachChunk { connection.write($0) }
            }
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: server.tcp.localAddress.port, context: try loop.client()))
            if tells {
                client.write("a")
                #expect(try loop.run(until: client.read()) == Data("a".utf8))
                // The end of TLS alone, and not of TCP.
                let transport = try #require(client.transport as? TLSTransport)
                transport.engine.tellEnd()
                transport.flush()
            }
            let last = try loop.run(until: client.readToEnd())
            #expect(last == (tells ? Data() : Data("a".utf8)))
            // Otherwise it waits for this side, and that for nothing.
            let start = loop.now
            if tells { try loop.run(until: #require(closed)) }
            #expect(start.duration(to: loop.now) < .seconds(5))
            #expect(closed?.isCompleted == tells)
            try loop.run(until: client.close())
            try loop.run(until: #require(closed))
            try loop.run(until: server.close())
        }
    }

    @Test("over TCP, an encrypted connection knows its addresses", arguments: TestNetwork.allCases)
    func addresses(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in
                #expect(connection.peerAddress != nil && connection.peerAddress != connection.localAddress)
                return connection.forEachChunk { connection.write($0) }
            }
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, context: try loop.client()))
            #expect(client.peerAddress == server.localAddress && client.serverName == nil)
            #expect(client.description.hasPrefix("TLSConnection over TCPConnection "))
            client.write("hello\n")
            #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
            try loop.run(until: client.close())
            #expect(try loop.run(until: server.shutdown(within: .seconds(5))).aborted == 0)
        }
    }

    @Test("keys are renewed in TLS 1.3, in mid-stream")
    func renewal() throws {
        try withLoop { loop in
            let pair = try loop.pair()
            pair.client.write("one\n")
            #expect(pair.client.renewKeys())
            pair.client.write("two\n")
            #expect(try loop.run(until: pair.server.readLine()) == Data("one".utf8))
            #expect(try loop.run(until: pair.server.readLine()) == Data("two".utf8))
            pair.server.write("three\n")
            #expect(try loop.run(until: pair.client.readLine()) == Data("three".utf8))
            try loop.close(pair)
            #expect(!pair.client.renewKeys())
        }
    }
}
