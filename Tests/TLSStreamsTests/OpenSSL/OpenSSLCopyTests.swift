import Testing

@testable import TLSStreams

struct OpenSSLCopyTests {
    @Test("this process has one copy of OpenSSL 3")
    func own() throws {
        let copy = try OpenSSLCopy.outcome.get()
        #expect(copy.version.hasPrefix("3."))
        #expect(copy.tls.hasSuffix("/libssl.so.3"))
        #expect(copy.crypto.hasSuffix("/libcrypto.so.3"))
    }

    @Test(
        "one file that has both parts answers, and so do the two libraries of a folder",
        arguments: [
            ("/usr/bin/node", "/usr/bin/node"), ("node", "node"), ("/a/libssl.so.3", "/a/libcrypto.so.3"),
        ])
    func whole(_ tls: String, _ crypto: String) throws {
        #expect(try OpenSSLCopy(tls: tls, crypto: crypto, version: "3.0.1", stray: nil).tls == tls)
    }

    @Test("parts of several copies, and another kind, are refused with a sentence")
    func mixed() {
        func refusal(_ tls: String, _ crypto: String, _ version: String, _ stray: String? = nil) -> String? {
            do throws(OpenSSLMismatch) {
                _ = try OpenSSLCopy(tls: tls, crypto: crypto, version: version, stray: stray)
                return nil
            } catch {
                return "\(error)"
            }
        }
        let (library, node, remedy) = (
            "/a/libssl.so.3", "/usr/bin/node",
            "load only one OpenSSL 3 into the process, or encrypt in a separate process"
        )
        #expect(
            refusal(library, node, "3.0.1")
                == "libssl comes from /a/libssl.so.3, but libcrypto of OpenSSL 3.0.1 comes from /usr/bin/node; \(remedy)"
        )
        #expect(refusal(library, "/b/libcrypto.so.3", "3.0.1") != nil)
        #expect(
            refusal(node, node, "1.1.1")
                == "OpenSSL 1.1.1 is used, from /usr/bin/node, but this library is built for OpenSSL 3; \(remedy)"
        )
        #expect(
            refusal(node, node, "3.0.1", "SSL_new from /srv/host")
                == "OpenSSL comes from /usr/bin/node and /usr/bin/node, but SSL_new from /srv/host; \(remedy)"
        )
    }
}
