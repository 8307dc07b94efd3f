import Foundation
import FuturesTesting
import TLSStreams
import Testing

/// A server whose rules a client has satisfied, and another place, with other rules or at another time, to which it brings
/// its session.
struct AdmissionRulesTests {
    enum Difference: String, CaseIterable, Codable {
        case requested, required, requiredOfAll, authorities, system, lists, revoked, decide, decideLater
        case versions, ciphers, protocols, identity

        /// The rules that the session is made under, and those that it meets.
        func rules(_ version: TLSVersion, _ loop: EventLoop) -> (
            TLSServerConfiguration, TLSServerConfiguration
        ) {
            var lax = TLSServerConfiguration.usual
            lax.trust = .authorities([Authority.root.file])
            if ![.requested, .required].contains(self) { lax.clientCertificates = .required }
            if self == .requiredOfAll { lax.clientCertificates = .requested }
            if self == .authorities { lax.trust.authorities.append(Authority.client.file) }
            if self == .system { lax.trust.includesSystem = true }
            var strict = lax
            switch self {
            case .requested: strict.clientCertificates = .requested
            case .required, .requiredOfAll: strict.clientCertificates = .required
            case .authorities: strict.trust.authorities.removeLast()
            case .system: strict.trust.includesSystem = false
            case .lists: strict.trust.revocationLists = [Authority.root.list(revoking: 99)]
            case .revoked: strict.trust.revocationLists = [Authority.root.list(revoking: 2)]
            case .decide: strict.trust.decide = { _, isTrusted in isTrusted }
            case .decideLater: strict.trust.decideLater = { _, isTrusted in loop.succeeded(isTrusted) }
            case .versions: strict.parameters.versions = version...version
            case .ciphers:
                strict.parameters.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
            case .protocols: strict.parameters.protocols = ["h2"]
            case .identity: strict.identity = Authority.root.sign(Wish(serial: 12)).identity()
            }
            return (lax, strict)
        }
    }

    enum Way: String, CaseIterable, Codable { case otherName, reload, otherServer }

    struct Meeting: CustomTestStringConvertible {
        let difference: Difference
        let way: Way
        let version: TLSVersion

        var testDescription: String { "\(difference), \(way), \(version)" }

        static let all = Difference.allCases.flatMap { difference in
            Way.allCases.flatMap { way in
                TLSVersion.allCases.map { Meeting(difference: difference, way: way, version: $0) }
            }
        }
    }

    /// What a connection has come to.
    struct Outcome: Equatable {
        var isResumed = false
        var certificate: String?
        var applicationProtocol: String?
        var serverName: String?
        var failure: TLSError.Reason?
    }

    /// Connects as `wish` says, and returns what it came to, and the session that the client has got.
    private func connect(
        _ context: TLSContext, _ wish: RawClient.Wish, resuming session: RawSession? = nil
    ) throws -> (outcome: Outcome, session: RawSession?) {
        let loop = context.loop
        let client = try RawClient(on: loop, context, wish, resuming: session)
        client.advance()
        defer { client.stream.abort() }
        do {
            let server = try loop.run(until: client.server)
            server.write("hello\n")
            loop.advance(by: .seconds(1))
            #expect(client.received == Data("hello\n".utf8))
            defer { server.abort() }
            return (
                Outcome(
                    isResumed: server.isResumed, certificate: server.peerCertificate?.subject,
                    applicationProtocol: server.applicationProtocol, serverName: server.serverName),
                client.session
            )
        } catch {
            return (Outcome(failure: (error as? TLSError)?.reason), nil)
        }
    }

    private static var keys: [Data] { [Data(repeating: 7, count: TLSTicketKeys.keySize)] }

    @Test(
        "a session is resumed where the rules are those it was made under, and else costs a handshake",
        arguments: Meeting.all)
    func rules(meeting: Meeting) throws {
        try withLoop { loop in
            var (lax, strict) = meeting.difference.rules(meeting.version, loop)
            lax.ticketKeys = try TLSTicketKeys(Self.keys)
            strict.ticketKeys = lax.ticketKeys
            let strictContext = try loop.server(strict)
            lax.chooseContext = { name in
                loop.succeeded(meeting.way == .otherName && name == "other.test" ? strictContext : nil)
            }
            let context = try loop.server(lax)
            var wish = RawClient.Wish(
                version: meeting.version, name: "main.test", identity: .client, offer: "h2")
            let first = try connect(context, wish)
            #expect(!first.outcome.isResumed && first.outcome.failure == nil)
            let again = try connect(context, wish, resuming: first.session)
            #expect(again.outcome.isResumed && again.outcome.serverName == "main.test")
            #expect(again.outcome.certificate == first.outcome.certificate)

            let place = meeting.way == .otherServer ? strictContext : context
            if meeting.way == .otherName { wish.name = "other.test" }
            if meeting.way == .reload { try context.reload(strict) }
            let session = try #require(again.session)
            #expect(try connect(place, wish, resuming: session).outcome == connect(place, wish).outcome)
        }
    }

    @Test("a session goes on where nothing has changed", arguments: Way.allCases, TLSVersion.allCases)
    func sameRules(way: Way, version: TLSVersion) throws {
        try withLoop { loop in
            var rules = Difference.lists.rules(version, loop).1
            rules.ticketKeys = try TLSTicketKeys(Self.keys)
            let other = try loop.server(rules)
            let context = try loop.server(rules)
            let wish = RawClient.Wish(version: version, name: "main.test", identity: .client)
            let session = try connect(context, wish).session
            if way == .otherName { rules.chooseContext = { _ in loop.succeeded(other) } }
            if way != .otherServer { try context.reload(rules) }
            let outcome = try connect(way == .otherServer ? other : context, wish, resuming: session).outcome
            #expect(outcome == Outcome(isResumed: true, certificate: "CN=client", serverName: "main.test"))
        }
    }

    @Test(
        "a client that greets after a reload meets the new rules", arguments: TLSVersion.allCases,
        [false, true])
    func lateGreeting(version: TLSVersion, resumes: Bool) throws {
        try withLoop { loop in
            var (lax, strict) = Difference.required.rules(version, loop)
            lax.ticketKeys = try TLSTicketKeys(Self.keys)
            strict.ticketKeys = lax.ticketKeys
            let context = try loop.server(lax)
            let wish = RawClient.Wish(version: version, name: "main.test")
            let session = try connect(context, wish).session
            let client = try RawClient(on: loop, context, wish, resuming: resumes ? session : nil)
            loop.advance(by: .seconds(1))
            try context.reload(strict)
            client.advance()
            #expect(reason(loop.failure(of: client.server)) == .noCertificate)
            client.stream.abort()
        }
    }

    @Test("a session is one of a name, in any spelling", arguments: TLSVersion.allCases)
    func names(version: TLSVersion) throws {
        try withLoop { loop in
            let context = try loop.server()
            let session = try connect(context, RawClient.Wish(version: version, name: "main.test")).session
            for (name, isResumed) in [
                ("main.test", true), ("MAIN.Test.", true), ("other.test", false), (nil, false),
            ] {
                let wish = RawClient.Wish(version: version, name: name)
                #expect(
                    try connect(context, wish, resuming: session).outcome.isResumed == isResumed,
                    "\(name ?? "")")
            }
        }
    }

    enum Passing: String, CaseIterable, Codable { case certificate, authority, list }

    @Test(
        "a session ends with the certificate, the authorities and the lists that it rests on",
        arguments: Passing.allCases, TLSVersion.allCases)
    func time(passing: Passing, version: TLSVersion) throws {
        try withLoop { loop in
            let inAnHour = 946_684_800 + 3600
            let between = Authority(
                Wish(
                    commonName: "between", names: nil, end: passing == .authority ? inAnHour : day(2049),
                    serial: 9,
                    isAuthority: true), by: .root)
            func client(until end: Int) -> Authority {
                between.sign(Wish(commonName: "client", names: nil, end: end, serial: 21))
            }
            var configuration = TLSServerConfiguration.usual
            configuration.clientCertificates = .required
            configuration.trust = .authorities([Authority.root.file])
            configuration.trust.revocationLists = [
                between.list(revoking: 99, until: passing == .list ? inAnHour : day(2049)),
                // These two are out of date: one was replaced, and nobody asks for the other.
                between.list(revoking: 98, until: 946_684_800 - 3600),
                Authority.client.list(revoking: 99, until: 946_684_800 - 3600),
                Authority.root.list(revoking: 99),
            ]
            let context = try loop.server(configuration)
            var wish = RawClient.Wish(version: version, name: "main.test")
            wish.identity = client(until: passing == .certificate ? inAnHour : day(2049))
            wish.chain = [between]
            var session = try connect(context, wish).session
            for _ in 0..<3 {
                loop.advance(by: .seconds(1100))
                let again = try connect(context, wish, resuming: session)
                #expect(again.outcome.isResumed)
                session = again.session
            }
            loop.advance(by: .seconds(400))
            #expect(try connect(context, wish, resuming: session).outcome == connect(context, wish).outcome)
            #expect(
                try connect(context, wish).outcome.failure
                    == (passing == .list ? .noRevocationList : .certificateExpired))
            guard passing == .certificate else { return }
            wish.identity = client(until: day(2049))
            let renewed = try connect(context, wish, resuming: session)
            #expect(renewed.outcome == Outcome(certificate: "CN=client", serverName: "main.test"))
            #expect(try connect(context, wish, resuming: renewed.session).outcome.isResumed)
        }
    }

    @Test(
        "a closure that decides about clients is asked in each handshake", arguments: TLSVersion.allCases,
        [false, true])
    func closures(version: TLSVersion, later: Bool) throws {
        try withLoop { loop in
            var asked = 0
            var configuration = TLSServerConfiguration.usual
            configuration.trust = .authorities([Authority.root.file])
            if later {
                configuration.trust.decideLater = { chain, isTrusted in
                    asked += chain.count
                    return loop.sleep(for: .milliseconds(1)).map { isTrusted }
                }
            } else {
                configuration.trust.decide = { chain, isTrusted in
                    asked += chain.count
                    return isTrusted
                }
            }
            let wish = RawClient.Wish(version: version, name: "main.test", identity: .client)
            for demand in [TLSServerConfiguration.ClientCertificates.required, .requested, .none] {
                configuration.clientCertificates = demand
                let context = try loop.server(configuration)
                var session: RawSession?
                asked = 0
                for round in 0..<3 {
                    let next = try connect(context, wish, resuming: session)
                    #expect(
                        next.outcome.isResumed == (demand == .none && round > 0)
                            && next.outcome.failure == nil)
                    session = next.session
                }
                #expect(asked == (demand == .none ? 0 : 3))
            }
        }
    }

    /// A server keeps no sessions, so their numbers (session ids) lead to none: tickets are all there is. TLS 1.3 has
    /// nothing else.
    @Test("a client that takes no tickets resumes nothing, and is served")
    func numbers() throws {
        try withLoop { loop in
            let context = try loop.server()
            let wish = RawClient.Wish(version: .tls12, name: "main.test", takesTickets: false)
            let first = try connect(context, wish)
            for session in [nil, first.session] {
                #expect(
                    try connect(context, wish, resuming: session).outcome == Outcome(serverName: "main.test"))
            }
        }
    }

    @Test(
        "a context that is chosen resumes its own sessions, whoever gives keys",
        arguments: TLSVersion.allCases)
    func chosenKeys(version: TLSVersion) throws {
        try withLoop { loop in
            for (given, chosen) in [(false, false), (true, false), (false, true)] {
                var other = TLSServerConfiguration.usual
                if chosen { other.ticketKeys = try TLSTicketKeys(Self.keys) }
                let otherContext = try loop.server(other)
                var main = TLSServerConfiguration.usual
                if given { main.ticketKeys = try TLSTicketKeys(Self.keys) }
                main.chooseContext = { _ in loop.succeeded(otherContext) }
                let context = try loop.server(main)
                let wish = RawClient.Wish(version: version, name: "other.test")
                let session = try connect(context, wish).session
                #expect(
                    try connect(context, wish, resuming: session).outcome.isResumed, "\(given), \(chosen)")
            }
        }
    }
}
