import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSCertificateTests {
    @Test("control characters in the names of a certificate are escaped, so that one name stays one line")
    func controlCharacters() throws {
        try withLoop { loop in
            let wish = Wish(names: "DNS:main\u{1B}[2J\u{1}.test, DNS:other.test, IP:127.0.0.1")
            let context = try loop.server(
                TLSServerConfiguration(identity: Authority.root.sign(wish).identity()))
            #expect(context.certificate?.names == ["main\\1B[2J\\01.test", "other.test", "127.0.0.1"])
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
                    "the certificate of “CN=server” expires at 2000-01-21T00:00:00Z; renew it, and reload the context. "
                        + "Reported at most once a day."
                ])
            loop.advance(by: .seconds(86_400))
            var told: [TLSCertificate] = []
            context.onExpiry = { told.append($0) }
            try connect()
            #expect(told == [context.certificate])

            var chosen: [TLSCertificate] = []
            context.onExpiry = { chosen.append($0) }
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in loop.succeeded(context) }
            loop.advance(by: .seconds(86_400))
            try loop.close(try loop.pair(try loop.server(configuration)))
            #expect(chosen == [context.certificate])
        }
    }

    @Test("a certificate without a subject is called by the first of its names")
    func unnamed() throws {
        try withLoop { loop in
            func text(_ names: String?) throws -> String? {
                let authority = Authority.root.sign(Wish(commonName: nil, names: names))
                let context = try loop.server(TLSServerConfiguration(identity: authority.identity()))
                return context.certificate.map { "\($0)" }
            }
            let texts = try [text("DNS:a.test,DNS:b.test"), text(nil)]
            #expect(texts == ["a.test", "a certificate without a name"])
        }
    }
}
