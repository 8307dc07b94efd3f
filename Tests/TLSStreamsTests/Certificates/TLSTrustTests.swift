import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSTrustTests {
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

    enum Side: String, CaseIterable, Codable, CustomTestStringConvertible {
        case client, server

        var testDescription: String { rawValue }
    }

    /// How a server and a client end of which one, `side`, judges the other by `trust`, both with keys that are elsewhere.
    private func outcome(
        _ side: Side, _ version: TLSVersion, _ loop: EventLoop, peer: Authority = .server, _ trust: TLSTrust
    ) throws -> (judge: (any Error)?, peer: (any Error)?) {
        func identity(_ authority: Authority) -> TLSIdentity {
            TLSIdentity(certificates: authority.file) { request in
                loop.sleep(for: .milliseconds(1)).map { authority.sign(request) }
            }
        }
        var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
        server.parameters.versions = version...version
        server.clientCertificates = .required
        server.trust = .authorities([Authority.root.file])
        server.identity = identity(side == .client ? peer : .server)
        client.identity = identity(side == .client ? .client : peer)
        if side == .client { client.trust = trust } else { server.trust = trust }
        let (serverContext, clientContext) = try (loop.server(server), loop.client(client))
        let (near, far) = try MemoryStream.pair(on: loop)
        func exchange(_ connection: TLSConnection) -> Future<Void> {
            connection.write("hello\n")
            return connection.readLine().flatMap { _ in connection.close() }
        }
        let ends = [
            near.startTLS(client: clientContext, host: "localhost").flatMap(exchange),
            far.startTLS(server: serverContext).flatMap(exchange),
        ]
        let errors = ends.map { loop.failure(of: $0) }
        return side == .client ? (errors[0], errors[1]) : (errors[1], errors[0])
    }

    @Test(
        "a future decides, on either side", arguments: Side.allCases, [TLSVersion.tls12, .tls13])
    func laterDecision(side: Side, version: TLSVersion) throws {
        try withLoop { loop in
            var asked: [Bool] = []
            var trust = TLSTrust.authorities([Authority.root.file])
            trust.decideLater = { chain, isTrusted in
                asked.append(isTrusted)
                return loop.sleep(for: .seconds(2)).map { chain.first?.subject == "CN=server" }
            }
            let start = loop.now
            let accepted = try outcome(side, version, loop, trust)
            #expect(accepted.judge == nil && accepted.peer == nil, "\(accepted)")
            #expect(start.duration(to: loop.now) >= .seconds(2))
            let stranger = Authority(Wish())
            let unknown = try outcome(side, version, loop, peer: stranger, trust)
            #expect(unknown.judge == nil && unknown.peer == nil, "\(unknown)")
            let refused = try outcome(side, version, loop, peer: .client, trust)
            #expect(asked == [true, false, side == .server], "\(asked)")
            #expect(reason(refused.judge) == (side == .server ? .certificateRefused : .wrongHost))
            #expect(refused.peer != nil)
        }
    }

    @Test(
        "a closure that decides at once does so for who signs elsewhere, too", arguments: Side.allCases,
        [TLSVersion.tls12, .tls13])
    func decisionAtOnce(side: Side, version: TLSVersion) throws {
        try withLoop { loop in
            var trust = TLSTrust.authorities([Authority.root.file])
            trust.decide = { chain, isTrusted in chain.first?.subject == "CN=server" }
            for peer in [Authority.server, Authority(Wish())] {
                let accepted = try outcome(side, version, loop, peer: peer, trust)
                #expect(accepted.judge == nil && accepted.peer == nil, "\(accepted)")
            }
            let refused = try outcome(side, version, loop, peer: .client, trust)
            #expect(reason(refused.judge) == (side == .server ? .certificateRefused : .wrongHost))
            #expect(refused.peer != nil)
        }
    }

    @Test(
        "a future that fails, a closure that throws, and a decision before it refuse, and the peer is told",
        arguments: Side.allCases, [TLSVersion.tls12, .tls13])
    func failedDecision(side: Side, version: TLSVersion) throws {
        struct NoDatabase: Error {}
        try withLoop { loop in
            for way in ["fails", "throws", "refused before"] {
                var trust = TLSTrust.authorities([Authority.root.file])
                trust.decideLater = { _, _ in
                    #expect(way != "refused before")
                    if way == "throws" { throw NoDatabase() }
                    return loop.sleep(for: .seconds(1)).flatMap { loop.failed(NoDatabase()) }
                }
                trust.decide = { _, isTrusted in isTrusted && way != "refused before" }
                let ends = try outcome(side, version, loop, trust)
                if way == "refused before" {
                    #expect(reason(ends.judge) == .certificateRefused)
                } else {
                    #expect(ends.judge is NoDatabase, "\(way): \(ends)")
                }
                #expect(reason(ends.peer) == .alert(.handshakeFailure), "\(way): \(ends)")
            }
        }
    }

    @Test("a handshake that ends while a decision is under way cancels it", arguments: Side.allCases)
    func cancelledDecision(side: Side) throws {
        try withLoop { loop in
            var decision: Future<Bool>?
            var trust = TLSTrust.authorities([Authority.root.file])
            trust.decideLater = { _, _ in
                decision = loop.never()
                return decision!
            }
            let ends = try outcome(side, .tls13, loop, trust)
            #expect(reason(ends.judge) == .handshakeTimedOut)
            #expect(ends.peer != nil)
            #expect(decision?.isCancelled == true)
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
