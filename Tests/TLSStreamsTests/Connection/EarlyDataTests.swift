import CFuturesTLS
import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct EarlyDataTests {
    /// Our tickets allow no early data, so no client sends any that keeps to the rules.
    @Test("early data is refused, and the connection goes on without it")
    func refusal() throws {
        try withLoop { loop in
            let context = try loop.server()
            let first = try RawClient(on: loop, context)
            first.advance()
            let server = try loop.run(until: first.server)
            server.write("a line\n")
            loop.advance(by: .seconds(1))
            #expect(first.received == Data("a line\n".utf8))
            let session = try #require(first.session)
            #expect(unsafe SSL_SESSION_get_max_early_data(session.raw) == 0)
            unsafe SSL_SESSION_set_max_early_data(session.raw, 16_384)

            let second = try RawClient(on: loop, context, resuming: session)
            #expect(second.writeEarly("early\n") == 6)
            second.advance()
            let resumed = try loop.run(until: second.server)
            #expect(resumed.isResumed)
            #expect(unsafe SSL_get_early_data_status(second.ssl) == SSL_EARLY_DATA_REJECTED)
            second.write("late\n")
            #expect(try loop.run(until: resumed.readLine()) == Data("late".utf8))
            for client in [first, second] { client.stream.abort() }
            for server in [server, resumed] { server.abort() }
        }
    }
}
