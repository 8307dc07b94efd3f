import Foundation
import FuturesTesting
import TLSStreams
import Testing

/// A server that a client should refuse, why, and what the server hears of it.
struct BadServer: CustomTestStringConvertible, Sendable {
    let name: String
    let reason: TLSError.Reason
    var alert: TLSAlert?
    var host = "localhost"
    /// What the error says behind the peer.
    var text: String?
    let make: @Sendable () throws -> (TLSServerConfiguration, TLSClientConfiguration)

    var testDescription: String { name }

    /// A server with a certificate of the trusted authority.
    init(
        _ name: String, _ reason: TLSError.Reason, _ alert: TLSAlert?, host: String = "localhost",
        text: String? = nil,
        key: TestKey = TestKey(), _ wish: Wish
    ) {
        self.init(name, reason, alert, host: host, text: text) {
            (TLSServerConfiguration(identity: Authority.root.sign(wish, key: key).identity()), .usual)
        }
    }

    init(
        _ name: String, _ reason: TLSError.Reason, _ alert: TLSAlert?, host: String = "localhost",
        text: String? = nil,
        _ make: @escaping @Sendable () throws -> (TLSServerConfiguration, TLSClientConfiguration)
    ) {
        (self.name, self.reason, self.alert, self.host, self.text, self.make) = (
            name, reason, alert, host, text, make
        )
    }

    static func names(_ names: String?, commonName: String = "server") -> Wish {
        Wish(commonName: commonName, names: names)
    }

    static func revocation(_ lists: [TLSFile]) -> (TLSServerConfiguration, TLSClientConfiguration) {
        var client = TLSClientConfiguration.usual
        client.trust.revocationLists = lists
        return (.usual, client)
    }

    /// A chain of the root, an authority in between, and the server.
    static func chain(
        _ middle: Wish, sends: Bool, name: String = "localhost"
    ) -> (TLSServerConfiguration, TLSClientConfiguration) {
        let middle = Authority.root.sign(middle)
        let leaf = middle.sign(Wish(names: "DNS:\(name)", serial: 3))
        return (TLSServerConfiguration(identity: leaf.identity(chain: sends ? [middle] : [])), .usual)
    }

    /// A server that does not mind its own weakness.
    static func weak(_ configuration: TLSServerConfiguration) -> TLSServerConfiguration {
        var configuration = configuration
        configuration.parameters.ciphers += ":@SECLEVEL=0"
        return configuration
    }

    static let all: [BadServer] = [
        BadServer(
            "expired", .certificateExpired, .certificateExpired,
            text:
                "the certificate of “CN=server” has expired (1999-12-31T00:00:00Z); the peer has to renew it",
            Wish(end: 946_598_400)),
        BadServer(
            "not yet valid", .certificateNotYetValid, .badCertificate,
            text:
                "the certificate of “CN=server” is not valid yet (2001-01-01T00:00:00Z); look at the clock of this "
                + "machine, or wait",
            Wish(start: 978_307_200)),
        BadServer(
            "another host", .wrongHost, .badCertificate, host: "other.org",
            text:
                "the certificate of “CN=server” is not valid for other.org, but for localhost, example.org, "
                + "*.example.net, 127.0.0.1, 0:0:0:0:0:0:0:1; connect to one of those, or let the peer "
                + "renew it with that name",
            Wish()),
        BadServer("another address", .wrongHost, .badCertificate, host: "127.0.0.2", Wish()),
        BadServer("another IPv6 address", .wrongHost, .badCertificate, host: "::2", Wish()),
        BadServer(
            "an address that is there as a name only", .wrongHost, .badCertificate, host: "10.0.0.1",
            names("DNS:10.0.0.1")),
        BadServer("a common name only", .wrongHost, .badCertificate, names(nil, commonName: "localhost")),
        BadServer(
            "a common name beside another name", .wrongHost, .badCertificate,
            names("DNS:other.org", commonName: "localhost")),
        BadServer("a wildcard over two labels", .wrongHost, .badCertificate, host: "a.b.example.net", Wish()),
        BadServer("a wildcard without its label", .wrongHost, .badCertificate, host: "example.net", Wish()),
        BadServer(
            "a wildcard within a label", .wrongHost, .badCertificate, host: "web1.example.org",
            names("DNS:web*.example.org")),
        BadServer(
            "a wildcard that is not the first label", .wrongHost, .badCertificate, host: "a.b.example.org",
            names("DNS:a.*.example.org")),
        BadServer("a wildcard alone", .wrongHost, .badCertificate, names("DNS:*")),
        BadServer(
            "a wildcard of a top-level domain", .wrongHost, .badCertificate, host: "example.org",
            names("DNS:*.org")),
        BadServer(
            "a name that is longer", .wrongHost, .badCertificate, host: "example.org",
            names("DNS:example.org.evil.net")),
        BadServer(
            "an e-mail address with the name", .wrongHost, .badCertificate, host: "example.org",
            names("email:root@example.org")),
        BadServer(
            "self-signed", .selfSigned, .unknownAuthority,
            text:
                "the certificate of “CN=server” is self-signed; add it to the trust, if it is the one you expect"
        ) { (TLSServerConfiguration(identity: Authority(Wish()).identity()), .usual) },
        BadServer(
            "of an unknown authority", .unknownAuthority, .unknownAuthority,
            text:
                "no trusted authority has signed the certificate of “CN=server” (issuer “CN=stranger”); add the "
                + "authority to the trust, or let the peer send the intermediate certificates"
        ) {
            (TLSServerConfiguration(identity: Authority(named: "stranger").sign(Wish()).identity()), .usual)
        },
        BadServer("of an unknown authority that is sent", .unknownAuthority, .unknownAuthority) {
            let stranger = Authority(named: "stranger")
            return (
                TLSServerConfiguration(identity: stranger.sign(Wish()).identity(chain: [stranger])), .usual
            )
        },
        BadServer("of an authority with the same name", .unknownAuthority, nil) {
            let twin = Authority(named: "test authority")
            return (TLSServerConfiguration(identity: twin.sign(Wish()).identity()), .usual)
        },
        BadServer(
            "for clients only", .wrongPurpose, .unsupportedCertificate,
            text:
                "the certificate of “CN=server” was not issued for this use (as a server's or a client's "
                + "certificate); the peer needs one that was",
            Wish(usage: "clientAuth")),
        BadServer("a chain without its middle", .unknownAuthority, .unknownAuthority) {
            chain(Wish(commonName: "middle", names: nil, serial: 5, isAuthority: true), sends: false)
        },
        BadServer("a middle that has expired", .certificateExpired, .certificateExpired) {
            chain(
                Wish(commonName: "middle", names: nil, end: day(2000) - 86_400, serial: 5, isAuthority: true),
                sends: true)
        },
        BadServer("a middle that is no authority", .invalidCertificate, nil) {
            chain(Wish(commonName: "middle", names: nil, serial: 5), sends: true)
        },
        BadServer(
            "a middle signed with SHA-1", .weakCertificate, nil,
            text:
                "the certificate of “CN=middle” is too weak (CA signature digest algorithm too weak); the peer has to renew it"
        ) {
            let (server, client) = chain(
                Wish(commonName: "middle", names: nil, serial: 5, isAuthority: true, usesSHA1: true),
                sends: true)
            return (weak(server), client)
        },
        BadServer("signed with SHA-1", .weakCertificate, nil) {
            (
                weak(TLSServerConfiguration(identity: Authority.root.sign(Wish(usesSHA1: true)).identity())),
                .usual
            )
        },
        BadServer(
            "with a key of 1024 bits", .weakCertificate, nil,
            text:
                "the certificate of “CN=server” is too weak (EE certificate key too weak); the peer has to renew it"
        ) {
            (
                weak(TLSServerConfiguration(identity: Authority.root.sign(Wish(), key: .short).identity())),
                .usual
            )
        },
        BadServer(
            "revoked", .revoked, .certificateRevoked,
            text:
                "the certificate of “CN=server” has been revoked by its authority (issuer “CN=test authority”); the "
                + "peer has to renew it"
        ) { revocation([Authority.root.list(revoking: 1)]) },
        BadServer(
            "without a list of its authority", .noRevocationList, nil,
            text:
                "there is no valid certificate revocation list for the certificate of “CN=server” (issuer “CN=test "
                + "authority”); give a new one from its authority"
        ) { revocation([Authority(named: "stranger").list(revoking: 1)]) },
        BadServer("with a list that is out of date", .noRevocationList, nil) {
            revocation([Authority.root.list(revoking: 9, until: day(2000) - 86_400)])
        },
        BadServer(
            "a closure refuses it", .certificateRefused, nil,
            text: "TLSTrust.decide or decideLater has refused the certificate of “CN=server”"
        ) {
            var client = TLSClientConfiguration.usual
            client.trust.decide = { chain, isTrusted in
                #expect(chain.first?.subject == "CN=server" && isTrusted)
                return false
            }
            return (.usual, client)
        },
        BadServer(
            "TLS 1.2 only, for a client of TLS 1.3", .alert(.protocolVersion), nil,
            text:
                "the peer has ended the connection with the alert protocol_version; allow a version that the peer speaks"
        ) {
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.parameters.versions = .tls12 ... .tls12
            client.parameters.versions = .tls13 ... .tls13
            return (server, client)
        },
        BadServer("another cipher", .alert(.handshakeFailure), nil) {
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.parameters.versions = .tls12 ... .tls12
            server.parameters.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"
            client.parameters.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
            return (server, client)
        },
        BadServer("another protocol", .alert(.noApplicationProtocol), nil) {
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.parameters.protocols = ["h2"]
            client.parameters.protocols = ["http/1.1"]
            return (server, client)
        },
    ]
}

/// A client that a server should refuse, and what the client hears.
struct BadClient: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let reason: TLSError.Reason
    let alert: TLSAlert
    let identity: @Sendable () -> TLSIdentity?

    static let all: [BadClient] = [
        BadClient(testDescription: "no certificate", reason: .noCertificate, alert: .certificateRequired) {
            nil
        },
        BadClient(testDescription: "of a stranger", reason: .unknownAuthority, alert: .unknownAuthority) {
            Authority(named: "stranger").sign(Wish(commonName: "client")).identity()
        },
        BadClient(testDescription: "self-signed", reason: .selfSigned, alert: .unknownAuthority) {
            Authority(Wish(commonName: "client")).identity()
        },
        BadClient(testDescription: "expired", reason: .certificateExpired, alert: .certificateExpired) {
            Authority.root.sign(Wish(commonName: "client", end: day(2000) - 86_400)).identity()
        },
        BadClient(testDescription: "for servers only", reason: .wrongPurpose, alert: .unsupportedCertificate)
        {
            Authority.root.sign(Wish(commonName: "client", usage: "serverAuth")).identity()
        },
        BadClient(testDescription: "revoked", reason: .revoked, alert: .certificateRevoked) {
            Authority.root.sign(Wish(commonName: "client", serial: 66)).identity()
        },
    ]
}

struct OpenSSLFailureTests {
    @Test(
        "a server that is not to be trusted is refused, with the reason, and is told so",
        arguments: BadServer.all)
    func badServers(bad: BadServer) throws {
        try withLoop { loop in
            let (server, client) = try bad.make()
            let failures = try loop.failures(try loop.server(server), try loop.client(client), host: bad.host)
            #expect(reason(failures.client) == bad.reason, "\(failures)")
            if let text = bad.text { #expect("\(failures.client!)" == "TLS with MemoryStream: " + text) }
            if let alert = bad.alert { #expect(reason(failures.server) == .alert(alert), "\(failures)") }
            #expect(failures.server != nil)
        }
    }

    @Test("what the other end of a failed negotiation says")
    func servers() throws {
        try withLoop { loop in
            let expected: [String: TLSError.Reason] = [
                "TLS 1.2 only, for a client of TLS 1.3": .noCommonVersion, "another cipher": .noCommonCipher,
                "another protocol": .noCommonProtocol,
            ]
            for bad in BadServer.all {
                guard let wanted = expected[bad.name] else { continue }
                let (server, client) = try bad.make()
                let failures = try loop.failures(try loop.server(server), try loop.client(client))
                #expect(reason(failures.server) == wanted, "\(failures)")
            }
        }
    }

    @Test(
        "a client that is not to be trusted is refused, with the reason, and is told so",
        arguments: BadClient.all)
    func badClients(bad: BadClient) throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.clientCertificates = .required
            server.trust = .authorities([Authority.root.file])
            server.trust.revocationLists = [Authority.root.list(revoking: 66)]
            client.identity = bad.identity()
            let failures = try loop.failures(try loop.server(server), try loop.client(client))
            #expect(reason(failures.server) == bad.reason, "\(failures)")
            #expect(reason(failures.client) == .alert(bad.alert), "\(failures)")
        }
    }

    @Test(
        "names that are valid",
        arguments: [
            "localhost", "LOCALHOST", "localhost.", "example.org", "a.example.net", "127.0.0.1", "::1",
        ])
    func goodNames(host: String) throws {
        try withLoop { loop in try loop.close(try loop.pair(host: host)) }
    }

    @Test("what good servers have", arguments: ["RSA", "in between", "listed", "for both uses"])
    func goodServers(kind: String) throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            switch kind {
            case "RSA": server.identity = Authority.root.sign(Wish(), key: .rsa).identity()
            case "in between":
                (server, client) = BadServer.chain(
                    Wish(commonName: "middle", names: nil, serial: 5, isAuthority: true), sends: true)
            // There is no list of the authority in between, and none is needed for it.
            case "listed": client.trust.revocationLists = [Authority.root.list(revoking: 9)]
            default: server.identity = Authority.root.sign(Wish(usage: "serverAuth,clientAuth")).identity()
            }
            let pair = try loop.pair(try loop.server(server), try loop.client(client))
            #expect(pair.client.peerCertificates.count == (kind == "in between" ? 2 : 1))
            try loop.close(pair)
        }
    }

    @Test(
        "what is no TLS is refused with a sentence",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", TLSError.Reason.plainHTTP), ("POST / HTTP/1.1\r\n\r\n", .plainHTTP),
            ("SSH-2.0-OpenSSH\r\n", .notTLS), ("\u{16}\u{1}garbage garbage", .notTLS),
            ("\u{16}\u{3}\u{1}\u{0}\u{5}hello", .protocolViolation),
            ("\u{17}\u{3}\u{3}\u{0}\u{5}hello", .protocolViolation),
        ])
    func noTLS(bytes: String, expected: TLSError.Reason) throws {
        try withLoop { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            let server = far.startTLS(server: try loop.server())
            near.write(bytes)
            let error = loop.failure(of: server)
            #expect(reason(error) == expected, "\(error!)")
            if expected == .plainHTTP {
                #expect(
                    "\(error!)"
                        == "TLS with MemoryStream: the peer speaks plain HTTP; it has to use https, or another port"
                )
            }
            near.abort()
            try loop.run(until: far.closed)
        }
    }

    @Test("a server of plain HTTP is named so")
    func plainServer() throws {
        try withLoop { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            let client = near.startTLS(client: try loop.client(), host: "localhost")
            far.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            #expect(reason(loop.failure(of: client)) == .plainHTTP)
            far.abort()
            try loop.run(until: near.closed)
        }
    }

    @Test("a record that was changed on its way ends the connection, and the sender is told")
    func changed() throws {
        try withLoop { loop in
            let relay = try Relay(on: loop)
            let server = relay.far.startTLS(server: try loop.server())
            let client = try loop.run(
                until: relay.near.startTLS(client: try loop.client(), host: "localhost"))
            let connection = try loop.run(until: server)
            relay.change = { $0[$0.count - 1] ^= 1 }
            client.write("hello")
            let error = loop.failure(of: connection.read())
            #expect(reason(error) == .brokenRecord, "\(error!)")
            #expect(reason(loop.failure(of: client.read())) == .alert(.badRecordMAC))
            relay.end()
        }
    }
}
