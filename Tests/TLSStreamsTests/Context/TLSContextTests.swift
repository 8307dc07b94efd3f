import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSContextTests {
    @Test("a certificate that is reloaded serves later connections, and open ones go on")
    func reload() throws {
        try withLoop { loop in
            let context = try loop.server()
            let before = try loop.pair(context)
            let renewed = Authority.root.sign(Wish(commonName: "renewed", serial: 8))
            try context.reload(TLSServerConfiguration(identity: renewed.identity()))
            #expect(context.certificate?.subject == "CN=renewed")
            let after = try loop.pair(context)
            #expect(before.client.peerCertificate?.subject == "CN=server")
            #expect(after.client.peerCertificate?.subject == "CN=renewed")
            before.client.write("hello\n")
            #expect(try loop.run(until: before.server.readLine()) == Data("hello".utf8))
            try loop.close(before)
            try loop.close(after)
        }
    }

    @Test("files are read again by a reload, and one that fails changes nothing")
    func files() throws {
        try withLoop { loop in
            let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let (certificate, key) = (directory.appending(path: "a.pem"), directory.appending(path: "a.key"))
            func write(_ authority: Authority) throws {
                try authority.certificate.write(to: certificate, atomically: true, encoding: .utf8)
                try authority.key.pem.write(to: key, atomically: true, encoding: .utf8)
            }
            try write(Authority.server)
            let identity = TLSIdentity(certificates: .path(certificate.path()), key: .path(key.path()))
            let context = try loop.server(TLSServerConfiguration(identity: identity))
            try write(Authority.root.sign(Wish(commonName: "renewed", serial: 8)))
            try context.reload()
            #expect(context.certificate?.subject == "CN=renewed")
            try FileManager.default.removeItem(at: key)
            #expect(
                complaint { try context.reload() }
                    == "a private key cannot be read from \(key.path()); give the path of a "
                    + "PEM file that this process may read")
            #expect(context.certificate?.subject == "CN=renewed")
            try loop.close(try loop.pair(context))
        }
    }

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

    @Test(
        "servers that share ticket keys resume each other's sessions, while keys are rotated",
        arguments: [TLSVersion.tls12, .tls13])
    func ticketKeys(version: TLSVersion) throws {
        try withLoop { loop in
            let keys = (0..<3).map { Data(repeating: UInt8($0 + 1), count: TLSTicketKeys.keySize) }
            func server(_ keys: [Data]?) throws -> TLSContext {
                var configuration = TLSServerConfiguration.usual
                configuration.parameters.versions = version...version
                configuration.ticketKeys = try keys.map { try TLSTicketKeys($0) }
                return try loop.server(configuration)
            }
            let client = try loop.client()
            func isResumed(by server: TLSContext) throws -> Bool {
                let pair = try loop.pair(server, client)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
                return pair.client.isResumed
            }
            let (old, new) = try (server([keys[0]]), server([keys[1], keys[0]]))
            #expect(try !isResumed(by: old))
            #expect(try isResumed(by: old))
            for _ in 0..<6 { #expect(try isResumed(by: new)) }
            #expect(try !isResumed(by: server([keys[2]])))
            #expect(try !isResumed(by: server(nil)))
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

    @Test("protocols above are agreed on in the order of the server")
    func protocols() throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.parameters.protocols = ["h2", "http/1.1"]
            client.parameters.protocols = ["http/1.1", "h2"]
            let context = try loop.server(server)
            let pair = try loop.pair(context, try loop.client(client))
            #expect(pair.client.applicationProtocol == "h2" && pair.server.applicationProtocol == "h2")
            try loop.close(pair)
            let without = try loop.pair(context)
            #expect(without.server.applicationProtocol == nil)
            try loop.close(without)
        }
    }

    @Test("clients are asked for certificates, and may or must send one")
    func clientCertificates() throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.trust = .authorities([Authority.root.file])
            server.clientCertificates = .requested
            let context = try loop.server(server)
            let without = try loop.pair(context)
            #expect(without.server.peerCertificate == nil)
            try loop.close(without)
            client.identity = Authority.client.identity()
            server.clientCertificates = .required
            for context in [context, try loop.server(server)] {
                let pair = try loop.pair(context, try loop.client(client))
                #expect(pair.server.peerCertificate?.subject == "CN=client")
                try loop.close(pair)
            }
        }
    }

    @Test("a closure may trust what nobody else does")
    func decision() throws {
        try withLoop { loop in
            let own = Authority(Wish())
            var client = TLSClientConfiguration.usual
            client.trust.decide = { chain, isTrusted in
                !isTrusted && chain.first?.der == own.der
            }
            let context = try loop.client(client)
            let pair = try loop.pair(
                try loop.server(TLSServerConfiguration(identity: own.identity())), context)
            try loop.close(pair)
            let stranger = try loop.server(TLSServerConfiguration(identity: Authority(Wish()).identity()))
            #expect(reason(try loop.failures(stranger, context).client) == .selfSigned)
        }
    }

    @Test("a certificate that expires soon is told of, once a day")
    func expiry() throws {
        try withLoop { loop in
            let authority = Authority.root.sign(Wish(end: 946_684_800 + 20 * 86_400))
            let context = try loop.server(TLSServerConfiguration(identity: authority.identity()))
            var warnings: [String] = []
            loop.observe { if case .warning(let text) = $0 { warnings.append(text) } }
            func connect() throws { try loop.close(try loop.pair(context)) }
            try connect()
            #expect(warnings.isEmpty)
            loop.advance(by: .seconds(7 * 86_400))
            try connect()
            try connect()
            #expect(
                warnings == [
                    "the certificate of “CN=server” expires at 2000-01-21T00:00:00Z; renew it, and reload the context. Said "
                        + "once a day at most."
                ])
            loop.advance(by: .seconds(86_400))
            var told: [TLSCertificate] = []
            context.onExpiry = { told.append($0) }
            try connect()
            #expect(told == [context.certificate])
            loop.observe(nil)
        }
    }

    @Test("bad material is refused with a sentence that names it")
    func badMaterial() throws {
        try withLoop { loop in
            func fault(_ identity: TLSIdentity) -> String? {
                complaint { _ = try loop.server(TLSServerConfiguration(identity: identity)) }
            }
            func pem(_ text: String) -> TLSFile { .pem(Data(text.utf8)) }
            let good = Authority.server
            let key = pem(good.key.pem)
            #expect(
                fault(TLSIdentity(certificates: .path("/nowhere/a.pem"), key: key))
                    == "a certificate cannot be read from /nowhere/a.pem; give the path of a PEM file that this process may "
                    + "read")
            #expect(
                fault(TLSIdentity(certificates: pem("hello"), key: key))
                    == "there is no certificate in the given text; give a PEM file with “BEGIN CERTIFICATE”")
            let broken = good.certificate.replacing("MII", with: "MIX", maxReplacements: 1)
            #expect(
                fault(TLSIdentity(certificates: pem(good.certificate + broken), key: key))
                    == "certificate 2 of the given text is malformed; give a PEM file that openssl reads")
            #expect(
                fault(TLSIdentity(certificates: good.file, key: good.file))
                    == "there is no private key in the given text; give a PEM file with “BEGIN PRIVATE KEY”")
            #expect(
                fault(TLSIdentity(certificates: good.file, key: pem(TestKey().pem)))
                    == "the key of the given text is not the key of the certificate of “CN=server”; give the one it was made "
                    + "with")
            #expect(
                fault(Authority.root.sign(Wish(), key: .short).identity())
                    == "OpenSSL does not take the certificates of “CN=server” (ee key too small); renew them with stronger "
                    + "keys and signatures")
            var configuration = TLSServerConfiguration.usual
            configuration.parameters.ciphers = "nonsense"
            #expect(
                complaint { _ = try loop.server(configuration) }
                    == "OpenSSL knows no cipher in “nonsense”; give names as `openssl ciphers` prints them")
            configuration = .usual
            configuration.parameters.protocols = [""]
            #expect(
                complaint { _ = try loop.server(configuration) }
                    == "a protocol of 0 bytes makes no sense; give 1 to 255")
            var client = TLSClientConfiguration.usual
            client.trust.revocationLists = [good.file]
            #expect(
                complaint { _ = try loop.client(client) }
                    == "there is no list of revoked certificates in the given text; give a PEM file with “BEGIN X509 CRL”"
            )
            #expect(
                complaint { _ = try TLSTicketKeys([Data(count: 80), Data(count: 3)]) }
                    == "ticket keys of [80, 3] bytes make no sense; give 1 to 8 keys of 80 bytes")
        }
    }

    @Test("a key that is encrypted opens with its passphrase")
    func passphrase() throws {
        try withLoop { loop in
            // The certificate is of the same key, in the clear.
            let encrypted = TestKey(passphrase: "secret")
            func fault(_ passphrase: String?) -> String? {
                let identity = TLSIdentity(
                    certificates: Authority.server.file, key: .pem(Data(encrypted.pem.utf8)),
                    passphrase: passphrase)
                return complaint { _ = try loop.server(TLSServerConfiguration(identity: identity)) }
            }
            #expect(fault(nil) == "the private key in the given text is encrypted; give its passphrase")
            #expect(
                fault("wrong")
                    == "the private key in the given text does not open with the given passphrase; give the right one"
            )
            // It opens, and is another key.
            #expect(
                fault("secret")?.hasPrefix("the key of the given text is not the key of the certificate")
                    == true)
        }
    }
}

extension Authority {
    /// The certificate in DER form.
    var der: Data {
        let lines = certificate.split(separator: "\n").filter { !$0.hasPrefix("-") }
        return Data(base64Encoded: lines.joined())!
    }
}
