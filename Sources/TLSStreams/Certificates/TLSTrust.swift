public import Futures

/// How the certificate of a peer is judged.
///
/// ```swift
/// var trust = TLSTrust.authorities([.path("ca.pem")])
/// trust.revocationLists = [.path("revoked.pem")]
/// ```
public struct TLSTrust {
    /// Whether the authorities that the system trusts are trusted.
    public var includesSystem = false
    /// Authorities, or certificates of peers, that are trusted, too.
    public var authorities: [TLSFile] = []
    /// Lists of revoked certificates (CRL). If there are any, each peer's certificate needs one of its issuer, that
    /// is not out of date. Certificates of authorities are looked up as far as there are lists of their issuers.
    public var revocationLists: [TLSFile] = []
    /// A closure that decides. It gets the chain that the peer has sent, its own certificate first, and whether that
    /// chain passed all checks, the one of the host name included. The connection goes on only if it returns `true`.
    /// It is called on the loop's thread, within each handshake: no session is resumed that would not ask it again.
    public var decide: ((_ chain: [TLSCertificate], _ isTrusted: Bool) -> Bool)?
    /// A closure that decides by a future, for example after it has asked a database. It gets the same as ``decide``. If both
    /// are set, it is called only if ``decide`` has returned `true`, and both have to accept.
    ///
    /// The handshake waits for the future, on either side, and its time limit holds. If the closure throws or the
    /// future fails, the handshake fails with that error, and the peer gets an alert. If the handshake ends before, the
    /// future is cancelled.
    public var decideLater: ((_ chain: [TLSCertificate], _ isTrusted: Bool) throws -> Future<Bool>)?

    public init() {}

    /// The authorities that the system trusts.
    public static var system: TLSTrust {
        var trust = TLSTrust()
        trust.includesSystem = true
        return trust
    }

    /// Whether a closure decides, in each handshake.
    var asksClosure: Bool { decide != nil || decideLater != nil }

    /// Only these authorities or certificates.
    public static func authorities(_ authorities: [TLSFile]) -> TLSTrust {
        var trust = TLSTrust()
        trust.authorities = authorities
        return trust
    }
}
