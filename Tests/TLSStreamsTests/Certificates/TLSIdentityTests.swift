import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSIdentityTests {
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
                    == "the key of the given text does not belong to the certificate of “CN=server”; give "
                    + "the key of that certificate")
            #expect(
                fault(Authority.root.sign(Wish(), key: .short).identity())
                    == "OpenSSL does not accept the certificates of “CN=server” (ee key too small); renew "
                    + "them with stronger "
                    + "keys and signatures")
            var configuration = TLSServerConfiguration.usual
            configuration.parameters.ciphers = "nonsense"
            #expect(
                complaint { _ = try loop.server(configuration) }
                    == "OpenSSL knows no cipher in “nonsense”; give names as `openssl ciphers` prints them")
            configuration.parameters.ciphers = "HIGH\0:!aNULL"
            #expect(
                complaint { _ = try loop.server(configuration) }
                    == "the ciphers \"HIGH\\0:!aNULL\" contain a zero byte, which would end the list; leave it out"
            )
            configuration = .usual
            configuration.parameters.protocols = [""]
            #expect(
                complaint { _ = try loop.server(configuration) }
                    == "the name of a protocol must have 1 to 255 bytes, not 0")
            var client = TLSClientConfiguration.usual
            client.trust.revocationLists = [good.file]
            #expect(
                complaint { _ = try loop.client(client) }
                    == "there is no certificate revocation list in the given text; give a PEM file with “BEGIN X509 CRL”"
            )
            #expect(
                complaint { _ = try TLSTicketKeys([Data(count: 80), Data(count: 3)]) }
                    == "there must be 1 to 8 ticket keys of 80 bytes each, not of [80, 3] bytes")
        }
    }
}
