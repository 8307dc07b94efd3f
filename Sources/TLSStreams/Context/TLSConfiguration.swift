public import Futures

/// The settings that servers and clients have in common: versions, ciphers, and application protocols.
public struct TLSParameters {
    /// The allowed TLS versions.
    public var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The ciphers for TLS 1.2, in OpenSSL's notation. TLS 1.3 has its own ciphers. The default has only ciphers with
    /// forward secrecy and authenticated encryption.
    public var ciphers =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
        + "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
    /// The application protocols (ALPN), such as `h2` and `http/1.1`, in order of preference. A server refuses clients
    /// that offer only other protocols. If empty, no protocol is negotiated.
    public var protocols: [String] = []

    public init() {}
}

/// The settings of a server.
public struct TLSServerConfiguration {
    /// Whether clients are asked for a certificate.
    public enum ClientCertificates: Sendable {
        /// Clients are not asked for a certificate.
        case none
        /// Clients may send a certificate. If they do, it has to be trusted.
        case requested
        /// Clients have to send a certificate that is trusted.
        case required
    }

    public var identity: TLSIdentity
    public var parameters = TLSParameters()
    public var clientCertificates = ClientCertificates.none
    /// The rules by which clients' certificates are trusted.
    public var trust = TLSTrust()
    /// The keys of the tickets with which clients resume sessions. If `nil`, the context creates its own keys, and new
    /// ones when it is reloaded. If ``chooseContext`` returns another context for a name, that context's keys apply.
    public var ticketKeys: TLSTicketKeys?
    /// A closure that chooses a context by the host name that the client asks for (SNI). The name is in lower case and
    /// without a trailing dot, and `nil` if the client asks for none, or for an address. The closure is called in each
    /// handshake, also if the client resumes a session. The handshake waits for the future. If the result is `nil`, it
    /// continues with this context. If the closure throws or the future fails, the handshake fails with that error, and
    /// the client gets the alert `unrecognized_name`. A client that asks for an invalid name gets this alert in any
    /// case. Traps if the future or the context belongs to another loop.
    public var chooseContext: ((_ serverName: String?) throws -> Future<TLSContext?>)?

    public init(identity: TLSIdentity) { self.identity = identity }
}

/// The settings of a client.
public struct TLSClientConfiguration {
    public var parameters = TLSParameters()
    /// The rules by which servers' certificates are trusted. By default, the system's authorities are trusted.
    public var trust = TLSTrust.system
    /// The client's own credentials, for servers that ask for a certificate.
    public var identity: TLSIdentity?
    /// Whether sessions are kept and resumed, which saves both sides most of the work of a handshake. If ``trust`` has
    /// a closure that decides, no session is resumed.
    public var resumesSessions = true

    public init() {}
}
