import CCertificates
import Foundation
import TLSStreams

/// A private key, as PEM.
struct TestKey {
    let pem: String

    /// An RSA key of so many bits or, for zero, one on the curve P-256.
    init(rsa bits: CInt = 0, passphrase: String? = nil) { pem = unsafe text(make_key(bits, passphrase)) }

    /// The same key, encrypted.
    func encrypted(with passphrase: String) -> String { unsafe text(encrypt_key(pem, passphrase)) }

    /// One of the kind Ed25519.
    static let edwards = TestKey(rsa: -1)

    static let short = TestKey(rsa: 1024)
    static let rsa = TestKey(rsa: 2048)
}

/// What a certificate is to say. By default, it is valid for this machine, from 1999 to 2049.
struct Wish {
    var commonName: String? = "server"
    var names: String? = "DNS:localhost,DNS:example.org,DNS:*.example.net,IP:127.0.0.1,IP:::1"
    var usage: String?
    var start = day(1999)
    var end = day(2049)
    var serial = 1
    var isAuthority = false
    var usesSHA1 = false
}

/// New Year's Day of a year, in seconds since 1970.
func day(_ year: Int) -> Int { (year - 1970) * 31_556_952 }

/// A certificate with its key, which can sign others.
struct Authority {
    let certificate: String
    let key: TestKey

    /// Creates one that is signed by `issuer` or, if that is `nil`, by itself.
    init(_ wish: Wish, key: TestKey = TestKey(), by issuer: Authority? = nil) {
        self.key = key
        certificate = unsafe withOptional(wish.commonName) { commonName in
            unsafe withOptional(wish.names) { names in
                unsafe withOptional(wish.usage) { usage in
                    let wish = unsafe certificate_wish(
                        common_name: commonName, names: names, usage: usage, start: Int64(wish.start),
                        end: Int64(wish.end), serial: wish.serial, is_authority: wish.isAuthority,
                        uses_sha1: wish.usesSHA1)
                    return unsafe text(
                        make_certificate(wish, key.pem, issuer?.certificate, issuer?.key.pem))
                }
            }
        }
    }

    init(named name: String, by issuer: Authority? = nil) {
        self.init(Wish(commonName: name, names: nil, serial: 7, isAuthority: true), by: issuer)
    }

    /// The authority that the tests trust.
    static let root = Authority(named: "test authority")
    /// A server with a certificate of that.
    static let server = root.sign(Wish())
    /// A client with one.
    static let client = root.sign(Wish(commonName: "client", names: nil, serial: 2))

    func sign(_ wish: Wish, key: TestKey = TestKey()) -> Authority { Authority(wish, key: key, by: self) }

    /// A list that revokes the certificate with that number.
    func list(revoking serial: Int, until end: Int = day(2049)) -> TLSFile {
        .pem(Data(unsafe text(make_list(certificate, key.pem, serial, Int64(day(1999)), Int64(end))).utf8))
    }

    var file: TLSFile { .pem(Data(certificate.utf8)) }

    func identity(chain: [Authority] = []) -> TLSIdentity {
        let all = [certificate] + chain.map(\.certificate)
        return TLSIdentity(certificates: .pem(Data(all.joined().utf8)), key: .pem(Data(key.pem.utf8)))
    }
}

private func withOptional<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}

private func text(_ text: UnsafeMutablePointer<CChar>?) -> String {
    defer { unsafe free(text) }
    return unsafe String(cString: text!)
}
