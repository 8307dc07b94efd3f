import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
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
            for wrong in ["wrong", "secret\0evil", ""] {
                #expect(
                    fault(wrong)
                        == "the private key in the given text cannot be decrypted with the given "
                        + "passphrase; give the right one"
                )
            }
            // It opens, and is another key.
            #expect(
                fault("secret")?.hasPrefix("the key of the given text does not belong to the certificate")
                    == true)
        }
    }

    @Test(
        "a file is read in time that its size is in proportion to",
        arguments: ["certificates", "lines that begin one", "one line", "no text"])
    func growth(kind: String) throws {
        try withLoop { loop in
            expectLinear(from: 16_384, upTo: 4 << 20) { size in
                let part =
                    switch kind {
                    case "certificates": Authority.server.certificate
                    case "lines that begin one": "-----BEGIN CERTIFICATE-----\n"
                    case "one line": "-----BEGIN CERTIFICATE----- "
                    default: "\u{1}"
                    }
                var configuration = TLSClientConfiguration.usual
                let text = Data(String(repeating: part, count: size / part.utf8.count).utf8)
                configuration.trust = .authorities([.pem(text)])
                return { _ = try? loop.client(configuration) }
            }
        }
    }
}
