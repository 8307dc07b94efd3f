import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct SessionCacheTests {
    @Test(
        "sessions are resumed, also after aborts, and not where the client does not want it",
        arguments: [TLSVersion.tls12, .tls13])
    func resumption(version: TLSVersion) throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.parameters.versions = version...version
            let (server, client) = try (loop.server(configuration), loop.client())
            for round in 0..<20 {
                let pair = try loop.pair(server, client)
                #expect(pair.client.isResumed == (round > 0) && pair.server.isResumed == (round > 0))
                #expect(pair.client.peerCertificate?.subject == "CN=server")
                // Tickets of TLS 1.3 come with the first bytes.
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                if round % 2 == 0 {
                    pair.client.abort()
                    pair.server.abort()
                } else {
                    try loop.close(pair)
                }
            }
            var without = TLSClientConfiguration.usual
            without.resumesSessions = false
            let fresh = try loop.client(without)
            for _ in 0..<2 {
                let pair = try loop.pair(server, fresh)
                #expect(!pair.client.isResumed)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
            }
            let other = try loop.pair(server, client, host: "example.org")
            #expect(!other.client.isResumed)
            try loop.close(other)
        }
    }

    @Test("a session does not outlive the certificate of its server")
    func sessionExpiry() throws {
        try withLoop { loop in
            let short = Authority.root.sign(Wish(end: 946_684_800 + 3600))
            let server = try loop.server(TLSServerConfiguration(identity: short.identity()))
            let client = try loop.client()
            for expected in [false, true] {
                let pair = try loop.pair(server, client)
                #expect(pair.client.isResumed == expected)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
            }
            loop.advance(by: .seconds(3700))
            #expect(reason(try loop.failures(server, client).client) == .certificateExpired)
        }
    }
}
