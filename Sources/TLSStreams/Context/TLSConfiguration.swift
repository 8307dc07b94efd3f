public import Futures

/// What both sides of connections set: versions, ciphers, and protocols above.
public struct TLSParameters {
    /// The versions that are spoken.
    public var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    /// The ciphers of TLS 1.2, as OpenSSL writes them. TLS 1.3 has its own. By default: only those with forward
    /// secrecy and authenticated encryption.
    public var ciphers =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
        + "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
    /// The protocols above TLS (ALPN), such as `h2` and `http/1.1`, the most wanted first. A server refuses clients
    /// that offer protocols, but none of these. Empty: no protocol is negotiated.
    public var protocols: [String] = []

    public init() {}
}

/// The settings of a server's side.
public struct TLSServerConfiguration {
    /// What clients are asked for.
    public enum ClientCertificates: Sendable {
        /// Clients are not asked for a certificate.
        case none
        /// Clients may send a certificate. One that is sent has to be trusted.
        case requested
        /// Clients have to send a certificate that is trusted.
        case required
    }

    public var identity: TLSIdentity
    public var parameters = TLSParameters()
    public var clientCertificates = ClientCertificates.none
    /// How certificates of clients are judged.
    public var trust = TLSTrust()
    /// The keys of the tickets with which clients resume sessions. `nil`: the context makes keys of its own, and others
    /// when it is reloaded. For the name of a context that ``chooseContext`` returns, those of that context.
    public var ticketKeys: TLSTicketKeys?
    /// Chooses a context by the host name that the client asks for (SNI), in small letters and without a dot at its end, or
    /// `nil` if it asks for none, or for an address. Called in each handshake, also if the client resumes a session. The
    /// handshake waits for the future. With `nil`, it goes on with this context. If the closure throws or the future fails,
    /// the handshake fails with that error, and the client gets the alert `unrecognized_name`, as it does without the
    /// closure if what it asks for is no name. Traps if the future or the context belongs to another loop.
    public var chooseContext: ((_ serverName: String?) throws -> Future<TLSContext?>)?

    public init(identity: TLSIdentity) { self.identity = identity }
}

/// The settings of a client's side.
public struct TLSClientConfiguration {
    public var parameters = TLSParameters()
    /// How certificates of servers are judged. By default, the authorities of the system are trusted.
    public var trust = TLSTrust.system
    /// What this side proves itself with to servers that ask for it.
    public var identity: TLSIdentity?
    /// Whether sessions are kept and resumed, which saves both sides most of the work of a handshake. A ``trust`` with a
    /// closure that decides resumes none.
    public var resumesSessions = true

    public init() {}
}
