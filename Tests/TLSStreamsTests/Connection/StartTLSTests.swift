import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct StartTLSTests {
    @Test(
        "a plain conversation is encrypted from its middle on, and bytes that came early belong to the handshake"
    )
    func upgrade() throws {
        try withLoop { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            near.write("STARTTLS\n")
            let client = near.startTLS(client: try loop.client(), host: "localhost")
            #expect(try loop.run(until: far.readLine()) == Data("STARTTLS".utf8))
            // The greeting of the client has come by now, and waits unread.
            loop.advance(by: .seconds(1))
            let server = try loop.run(until: far.startTLS(server: try loop.server()))
            let pair = Pair(client: try loop.run(until: client), server: server)
            pair.client.write("hello\n")
            #expect(try loop.run(until: pair.server.readLine()) == Data("hello".utf8))
            try loop.close(pair)
        }
    }

    @Test(
        "small writes of a turn share a record and leave with the turn, whichever of the two streams gathers",
        arguments: [false, true], [false, true])
    func gathering(plain: Bool, encrypted: Bool) throws {
        try withLoop { loop in
            let relay = try Relay(on: loop)
            var records: [Data] = []
            relay.near.gathersWrites = plain
            let server = relay.far.startTLS(server: try loop.server())
            let client = try loop.run(
                until: relay.near.startTLS(client: try loop.client(), host: "localhost"))
            let peer = try loop.run(until: server)
            loop.advance(by: .seconds(1))
            relay.change = { records.append($0) }
            client.gathersWrites = encrypted
            // Nothing but the writes themselves asks for another turn.
            loop.later { for text in ["one, ", "two, ", "three\n"] { client.write(text) } }
            #expect(try loop.run(until: peer.readLine()) == Data("one, two, three".utf8))
            #expect(records.count == 1)
            relay.end()
            for end in [client, peer] { end.abort() }
        }
    }

    @Test("the last bytes of a handshake share a write with the first ones of the user")
    func firstWrite() throws {
        try withLoop { loop in
            let relay = try Relay(on: loop)
            var writes: [Data] = []
            relay.change = { writes.append($0) }
            let server = relay.far.startTLS(server: try loop.server())
            let client = relay.near.startTLS(client: try loop.client(), host: "localhost")
            client.whenSuccess { $0.write("hello\n") }
            let peer = try loop.run(until: server)
            #expect(try loop.run(until: peer.readLine()) == Data("hello".utf8))
            // The greeting, and all else.
            #expect(writes.count == 2)
            relay.end()
            try loop.run(until: client).abort()
            peer.abort()
        }
    }

    @Test("misuse is refused with a sentence, and leaves the stream as it was")
    func misuse() throws {
        try withLoop { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            let (server, client) = try (loop.server(), loop.client())
            func fault(_ future: Future<TLSConnection>) -> String? {
                complaint { _ = try loop.run(until: future) }
            }
            #expect(
                fault(near.startTLS(client: server, host: "localhost"))
                    == "startTLS(client:) was given the context of a server; give one made by TLSContext.client"
            )
            #expect(
                fault(near.startTLS(server: client))
                    == "startTLS(server:) was given the context of a client; give one made by TLSContext.server"
            )
            for host in ["", ".", "a\0b"] {
                #expect(
                    fault(near.startTLS(client: client, host: host))
                        == "startTLS(client:) was given the host “\(host)”; give a name or a numeric address")
            }
            #expect(
                fault(near.startTLS(server: server, timeout: .zero))
                    == "the handshake timeout must be positive, not 0.0 seconds")
            var limits = StreamLimits()
            limits.writeCap = -1
            #expect(
                fault(near.startTLS(server: server, limits: limits))?.hasPrefix("a write cap of -1") == true)
            let read = near.read()
            #expect(
                loop.failure(of: near.startTLS(client: client, host: "localhost")) as? StreamError
                    == .readPending)
            far.write("still plain")
            #expect(try loop.run(until: read) == Data("still plain".utf8))
            for end in [near, far] { end.abort() }
        }
    }

    @Test("a context of another loop traps")
    func otherLoop() async {
        await #expect(processExitsWith: .failure) {
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let (near, far) = try MemoryStream.pair(on: loop)
            _ = near.startTLS(client: try TLSContext.client(on: other), host: "localhost")
            withExtendedLifetime(far) {}
        }
    }
}
