import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing

@testable import ByteStreams
@testable import SystemIO
@testable import UVFutures

struct UVStreamTests: UsesUnixSockets {
    enum Kind: CaseIterable {
        case tcp, adoptedTCP, tcpThatSends, tcpThatHasFinished, unix, adoptedUnix
    }

    // A process that is just being started has copies of all descriptors, until it executes its program.
    @Test(
        "the peer of an aborted connection learns that, whoever has a copy of its descriptor",
        arguments: Kind.allCases)
    func abortedCopy(kind: Kind) throws {
        try withDirectory { directory, loop in
            let (client, server) = try connect(kind, directory + "/socket", loop)
            let transport = try #require(server.transport as? UVStream)
            let copy = dup(try #require(transport.descriptor))
            defer { close(copy) }
            if kind == .tcpThatSends || kind == .tcpThatHasFinished {
                server.write(Data(count: kind == .tcpThatSends ? 8_000_000 : 600_000)).ignoreFailure()
                if kind == .tcpThatHasFinished { try loop.run(until: server.shutdownWrite()) }
                try loop.runUntil { transport.unacknowledgedBytes > 0 }
            }
            _ = loop.outcome(of: server.abort())
            let end = loop.outcome(of: client.readToEnd().timeout(after: .seconds(20)))
            switch kind {
            case .unix, .adoptedUnix: #expect(try end.get() == Data())
            default: #expect(throws: SystemError.self) { try end.get() }
            }
            _ = loop.outcome(of: client.close())
        }
    }

    @Test("a stream whose descriptor is full by what others wrote loses nothing", arguments: [false, true])
    func full(writesSeveral: Bool) throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            #expect(
                unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            let copy = dup(ends[0])
            let stream = try DescriptorStream(adopting: ends[0], on: loop)
            let reader = try DescriptorStream(adopting: ends[1], on: loop)
            let filler = [UInt8](repeating: 0, count: 4096)
            while unsafe send(copy, filler, filler.count, CInt(MSG_DONTWAIT)) > 0 {}
            close(copy)
            let written =
                writesSeveral ? stream.write([Data("at ".utf8), Data("last".utf8)]) : stream.write("at last")
            stream.shutdownWrite()
            let all = try loop.run(until: reader.readToEnd(limit: 10_000_000))
            #expect(all.suffix(8) == Data([0] + "at last".utf8))
            try loop.run(until: written)
            loop.closeAll(stream, reader)
        }
    }

    @Test("a client sends at once, until it is told to wait", arguments: [true, false])
    func noDelay(isOn: Bool) throws {
        try withLoop { loop in
            let (client, server) = try loop.connectedPair()
            for connection in [client, server] {
                let transport = try #require(connection.transport as? UVTCP)
                let descriptor = try #require(transport.descriptor)
                func option() -> Bool {
                    socketOption(TCP_NODELAY, at: CInt(IPPROTO_TCP), of: descriptor) == 1
                }
                #expect(transport.noDelay && option())
                transport.setNoDelay(isOn)
                #expect(transport.noDelay == isOn && option() == isOn)
            }
            loop.closeAll(client, server)
        }
    }

    @Test("what comes by a listener that was adopted sends at once, too")
    func acceptedByAdopted() throws {
        try withLoop { loop in
            let made = PlainSocket.bound(backlog: 4)
            let listener = try TCPListener(adopting: dup(made.descriptor), on: loop)
            for _ in 0..<2 {
                let client = PlainSocket.connected(to: listener.localAddress.port)
                let server = try loop.run(until: listener.accept())
                let descriptor = try #require((server.transport as? UVTCP)?.descriptor)
                #expect(socketOption(TCP_NODELAY, at: CInt(IPPROTO_TCP), of: descriptor) == 1)
                withExtendedLifetime(client) {}
                _ = loop.outcome(of: server.abort())
            }
            try loop.run(until: listener.close())
        }
    }

    private func connect(_ kind: Kind, _ path: String, _ loop: EventLoop) throws -> (ByteStream, ByteStream) {
        switch kind {
        case .tcp, .tcpThatSends, .tcpThatHasFinished: return try loop.connectedPair()
        case .adoptedTCP:
            let (client, server) = try loop.connectedPair()
            return (client, try TCPConnection(adopting: server.release(), on: loop))
        case .unix, .adoptedUnix:
            let listener = try UnixListener(path: path, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let server = try loop.run(until: listener.accept())
            try loop.run(until: listener.close())
            return (
                client, kind == .unix ? server : try UnixConnection(adopting: server.release(), on: loop)
            )
        }
    }
}
