import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct PEMCertificatesTests {
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
