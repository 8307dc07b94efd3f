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
