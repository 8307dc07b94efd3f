public import Futures

/// The rules by which a peer's certificate is trusted.
///
/// ```swift
/// var trust = TLSTrust.authorities([.path("ca.pem")])
/// trust.revocationLists = [.path("revoked.pem")]
/// ```
public struct TLSTrust {
    /// Whether the system's authorities are trusted.
    public var includesSystem = false
    /// Further certificates to trust: of authorities, or of peers themselves.
    public var authorities: [TLSFile] = []
    /// The certificate revocation lists (CRLs). If there are any, each peer's certificate needs a current CRL of its
    /// issuer. An authority's certificate is checked only if there is a CRL of its issuer.
    public var revocationLists: [TLSFile] = []
    /// A closure that decides. It gets the chain that the peer sent, with the peer's own certificate first, and whether
    /// that chain passed all checks, including that of the host name. The connection continues only if it returns
    /// `true`. It is called on the loop's thread in each handshake: sessions are not resumed where it decides.
    public var decide: ((_ chain: [TLSCertificate], _ isTrusted: Bool) -> Bool)?
    /// A closure that decides with a future, for example after a database query. It gets the same arguments as
    /// ``decide``. If both are set, it is called only if ``decide`` has returned `true`, and both have to accept.
    ///
    /// The handshake waits for the future, on either side, within its time limit. If the closure throws or the future
    /// fails, the handshake fails with that error, and the peer gets an alert. If the handshake ends first, the future
    /// is cancelled.
    public var decideLater: ((_ chain: [TLSCertificate], _ isTrusted: Bool) throws -> Future<Bool>)?

    public init() {}

    /// The rules that trust the system's authorities.
    public static var system: TLSTrust {
        var trust = TLSTrust()
        trust.includesSystem = true
        return trust
    }

    /// Whether a closure decides in each handshake.
    var asksClosure: Bool { decide != nil || decideLater != nil }

    /// Returns the rules that trust only these authorities or certificates.
    public static func authorities(_ authorities: [TLSFile]) -> TLSTrust {
        var trust = TLSTrust()
        trust.authorities = authorities
        return trust
    }
}
