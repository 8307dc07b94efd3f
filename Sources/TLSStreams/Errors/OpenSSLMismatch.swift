/// The error when the OpenSSL in this process cannot be used. A host such as Node.js has its own OpenSSL, whose
/// functions take precedence over the system's.
public struct OpenSSLMismatch: Error, Hashable, Sendable {
    /// The path of the file that provides the TLS functions (`libssl`).
    public let tls: String
    /// The path of the file that provides the cryptographic functions (`libcrypto`).
    public let crypto: String
    /// The version of those cryptographic functions, such as `3.0.19`.
    public let version: String
    /// A function that comes from a different file than the others, and that file. `nil` without such a function.
    let stray: String?
}

extension OpenSSLMismatch: CustomStringConvertible {
    public var description: String {
        let remedy = "load only one OpenSSL 3 into the process, or encrypt in a separate process"
        if let stray { return "OpenSSL comes from \(tls) and \(crypto), but \(stray); \(remedy)" }
        if !version.hasPrefix("3.") {
            return
                "OpenSSL \(version) is used, from \(crypto), but this library is built for OpenSSL 3; \(remedy)"
        }
        return "libssl comes from \(tls), but libcrypto of OpenSSL \(version) comes from \(crypto); \(remedy)"
    }
}
