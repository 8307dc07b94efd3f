/// The error when the copy of OpenSSL that answers in this process cannot be used. A host such as Node.js has an OpenSSL of
/// its own, and its functions come before those of the system.
public struct OpenSSLMismatch: Error, Hashable, Sendable {
    /// The path of the file whose functions for TLS (`libssl`) answer.
    public let tls: String
    /// The path of the file whose functions for cryptography (`libcrypto`) answer.
    public let crypto: String
    /// The version of the latter, such as `3.0.19`.
    public let version: String
    /// A function that comes from another file than the others, and that file. `nil` if there is none.
    let stray: String?
}

extension OpenSSLMismatch: CustomStringConvertible {
    public var description: String {
        let remedy = "let the process have one OpenSSL 3, or encrypt in a process of its own"
        if let stray { return "OpenSSL comes from \(tls) and \(crypto), but \(stray); \(remedy)" }
        if !version.hasPrefix("3.") {
            return
                "OpenSSL \(version) answers, from \(crypto), but this library is built for OpenSSL 3; \(remedy)"
        }
        return "TLS comes from \(tls), but the cryptography of OpenSSL \(version) from \(crypto); \(remedy)"
    }
}
