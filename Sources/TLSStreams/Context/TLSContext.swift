internal import FoundationEssentials
public import Futures
internal import SystemIO

/// The shared state of a server's or a client's connections: certificates, trust, ciphers, sessions. Make one, and use
/// it for all connections: a context is expensive.
///
/// A context belongs to its loop. A program with several loops makes one for each. Servers that resume each other's
/// sessions share their ``TLSServerConfiguration/ticketKeys``.
///
/// ```swift
/// let identity = TLSIdentity(certificates: .path("server.pem"), key: .path("server.key"))
/// let context = try TLSContext.server(TLSServerConfiguration(identity: identity), on: loop)
/// ```
public final class TLSContext {
    enum Role {
        case server(TLSServerConfiguration)
        case client(TLSClientConfiguration)
    }

    public var loop: EventLoop { core }
    let core: LoopCore
    private(set) var role: Role
    private(set) var raw: OpenSSLContext
    /// A closure that gets this side's certificate when it expires within ``expiryNotice``, or has expired. It is
    /// called at a handshake, at most once a day. If it is `nil`, the loop's observer gets a warning.
    public var onExpiry: ((TLSCertificate) -> Void)? {
        get { expiryHandler }
        set { withExtendedLifetime(exchange(&expiryHandler, with: newValue)) {} }
    }
    private var expiryHandler: ((TLSCertificate) -> Void)?
    /// The time before a certificate's expiry at which ``onExpiry`` calls begin. Traps if it is negative.
    public var expiryNotice: Duration = .seconds(14 * 86_400) {
        didSet {
            if expiryNotice >= .zero { return }
            trap("TLSContext.expiryNotice was set to \(expiryNotice). Give zero or more.")
        }
    }
    private var lastNotice: LoopInstant?
    private(set) var sessions = SessionCache()
    /// The buffer for decrypted bytes. It is `nil` while it is lent. A stream that is encrypted twice needs another one
    /// then.
    private var block: DecryptionBlock?

    private init(_ role: Role, on loop: EventLoop) throws {
        loop.core.checkThread()
        _ = try OpenSSLCopy.outcome.get()
        core = loop.core
        self.role = role
        raw = try Self.make(role)
    }

    /// Creates the context of a server.
    ///
    /// Reads the files of the configuration immediately. Throws ``Futures/FutureError/invalidArgument(_:)`` if a file
    /// cannot be read, if a key does not match its certificate, if a passphrase does not decrypt its key, or if OpenSSL
    /// knows none of the ciphers. The error names the file. Throws ``OpenSSLMismatch`` if the host has parts of its own
    /// OpenSSL that are incompatible with this library.
    public static func server(_ configuration: TLSServerConfiguration, on loop: EventLoop) throws
        -> TLSContext
    {
        try TLSContext(.server(configuration), on: loop)
    }

    /// Creates the context of a client.
    ///
    /// Reads the files of the configuration immediately. Throws ``Futures/FutureError/invalidArgument(_:)`` for the
    /// same reasons as ``server(_:on:)``.
    public static func client(
        _ configuration: TLSClientConfiguration = TLSClientConfiguration(), on loop: EventLoop
    ) throws -> TLSContext {
        try TLSContext(.client(configuration), on: loop)
    }

    private static func make(_ role: Role) throws -> OpenSSLContext {
        switch role {
        case .server(let configuration):
            try OpenSSLContext(
                parameters: configuration.parameters, trust: configuration.trust,
                identity: configuration.identity, clientCertificates: configuration.clientCertificates,
                ticketKeys: configuration.ticketKeys)
        case .client(let configuration):
            try OpenSSLContext(
                parameters: configuration.parameters, trust: configuration.trust,
                identity: configuration.identity)
        }
    }

    /// Reads the files again, for example after a certificate was renewed. Later handshakes use the new contents. Open
    /// connections and handshakes under way keep the old ones. A server's handshake begins when the client has sent its
    /// greeting.
    ///
    /// Throws the same errors as ``server(_:on:)``, and then leaves the context as it was.
    public func reload() throws { try reload(role) }

    /// Replaces the configuration of a server's context: see ``reload()``. Traps if this is a client's context.
    public func reload(_ configuration: TLSServerConfiguration) throws {
        guard case .server = role else {
            trap(
                "A client's context was reloaded with a TLSServerConfiguration. Give it a "
                    + "TLSClientConfiguration.")
        }
        try reload(.server(configuration))
    }

    /// Replaces the configuration of a client's context: see ``reload()``. Forgets all sessions. Traps if this is a
    /// server's context.
    public func reload(_ configuration: TLSClientConfiguration) throws {
        guard case .client = role else {
            trap(
                "A server's context was reloaded with a TLSClientConfiguration. Give it a "
                    + "TLSServerConfiguration.")
        }
        try reload(.client(configuration))
    }

    private func reload(_ role: Role) throws {
        core.checkThread()
        let raw = try Self.make(role)
        // Older connections put their sessions into the old cache.
        let former = (
            exchange(&self.raw, with: raw), exchange(&self.role, with: role),
            exchange(&sessions, with: SessionCache())
        )
        lastNotice = nil
        withExtendedLifetime(former) {}
    }

    /// This side's certificate. `nil` if it has none.
    public var certificate: TLSCertificate? { raw.certificate }

    /// Reports a certificate that expires soon.
    func noteExpiry() {
        guard let certificate = raw.certificate else { return }
        let left = certificate.notAfter.timeIntervalSince(loop.date)
        guard left < Double(expiryNotice.components.seconds) else { return }
        if let lastNotice, lastNotice.duration(to: loop.now) < .seconds(86_400) { return }
        lastNotice = loop.now
        if let expiryHandler { return expiryHandler(certificate) }
        let day = certificate.notAfter.formatted(.iso8601)
        core.tell(
            .warning(
                "the certificate of “\(certificate)” expires at \(day); renew it, and reload the context. "
                    + "Reported at most once a day."))
    }

    /// Calls `body` with a buffer to decrypt into.
    func withBlock(_ body: (DecryptionBlock) -> Void) {
        let block = self.block.take() ?? DecryptionBlock()
        body(block)
        self.block = block
    }
}

@available(*, unavailable, message: "A context belongs to its loop's thread; make one for each loop.")
extension TLSContext: Sendable {}
