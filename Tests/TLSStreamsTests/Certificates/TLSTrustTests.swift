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
}

extension Authority {
    /// The certificate in DER form.
    var der: Data {
        let lines = certificate.split(separator: "\n").filter { !$0.hasPrefix("-") }
        return Data(base64Encoded: lines.joined())!
    }
}
