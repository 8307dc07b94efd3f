import CFuturesTLS
import Foundation
import FuturesTesting
import Testing

@testable import TLSStreams

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

    @Test("four sessions of a host are kept, and each of TLS 1.3 is resumed once")
    func kept() throws {
        try withLoop { loop in
            let (server, client) = try (loop.server(), loop.client())
            // Each gets two sessions, with the first bytes.
            let first = try (0..<3).map { _ in try loop.pair(server, client) }
            for pair in first {
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
            }
            for round in 0..<6 {
                let pair = try loop.pair(server, client)
                #expect(pair.client.isResumed == (round < 4), "\(round)")
                pair.client.abort()
                pair.server.abort()
            }
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

    @Test("a session of a connection that is older than a reload is not kept", arguments: TLSVersion.allCases)
    func reload(version: TLSVersion) throws {
        try withLoop { loop in
            var configuration = TLSClientConfiguration.usual
            configuration.parameters.versions = version...version
            let (server, client) = try (loop.server(), loop.client(configuration))
            for reloads in [false, true] {
                let older = try loop.pair(server, client)
                // The client does not trust the server any more.
                configuration.trust = .authorities([Authority.client.file])
                if reloads { try client.reload(configuration) }
                older.server.write("hello\n")
                _ = try loop.run(until: older.client.readLine())
                try loop.close(older)
                if reloads {
                    #expect(reason(try loop.failures(server, client).client) == .unknownAuthority)
                } else {
                    let next = try loop.pair(server, client)
                    #expect(next.client.isResumed)
                    try loop.close(next)
                }
            }
        }
    }

    enum Passing: String, CaseIterable, Codable { case authority, list }

    @Test(
        "a session does not outlive the authorities and the lists that its server was trusted by",
        arguments: Passing.allCases, TLSVersion.allCases)
    func trustExpiry(passing: Passing, version: TLSVersion) throws {
        try withLoop { loop in
            let inAnHour = 946_684_800 + 3600
            let between = Authority(
                Wish(
                    commonName: "between", names: nil, end: passing == .authority ? inAnHour : day(2049),
                    serial: 9,
                    isAuthority: true), by: .root)
            let server = try loop.server(
                TLSServerConfiguration(identity: between.sign(Wish()).identity(chain: [between])))
            var configuration = TLSClientConfiguration.usual
            configuration.parameters.versions = version...version
            configuration.trust.revocationLists = [
                between.list(revoking: 99, until: passing == .list ? inAnHour : day(2049))
            ]
            let client = try loop.client(configuration)
            for round in 0..<4 {
                let pair = try loop.pair(server, client)
                #expect(pair.client.isResumed == (round > 0))
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
                loop.advance(by: .seconds(1100))
            }
            #expect(
                reason(try loop.failures(server, client).client)
                    == (passing == .list ? .noRevocationList : .certificateExpired))
        }
    }

    @Test(
        "a closure that decides about servers is asked in each handshake", arguments: TLSVersion.allCases,
        [false, true])
    func closures(version: TLSVersion, later: Bool) throws {
        try withLoop { loop in
            var asked = 0
            var configuration = TLSClientConfiguration.usual
            configuration.parameters.versions = version...version
            if later {
                configuration.trust.decideLater = { _, isTrusted in
                    asked += 1
                    return loop.succeeded(isTrusted)
                }
            } else {
                configuration.trust.decide = { _, isTrusted in
                    asked += 1
                    return isTrusted
                }
            }
            let (server, client) = try (loop.server(), loop.client(configuration))
            for round in 1...3 {
                let pair = try loop.pair(server, client)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
                #expect(!pair.client.isResumed && asked == round)
            }
        }
    }

    @Test("sessions of a thousand hosts are kept, and another host takes the place of one of them")
    func hosts() {
        let raw = unsafe SSL_SESSION_new()!
        let session = unsafe OpenSSLSession(keeping: raw)
        unsafe SSL_SESSION_free(raw)
        let cache = SessionCache()
        let before = session.end.addingTimeInterval(-1)
        func add(_ hosts: Range<Int>) { for host in hosts { cache.add(session, for: "\(host)") } }
        func kept() -> Int { (0..<2000).count { cache.session(for: "\($0)", at: before) != nil } }
        add(0..<1000)
        add(0..<1000)
        #expect(kept() == 1000)
        add(1000..<1500)
        #expect(kept() == 1000)
        #expect(cache.session(for: "1499", at: before) === session)
    }
}
