/// What a side of a connection proves itself with: a certificate, the certificates that lead from it to an authority,
/// and the private key.
public struct TLSIdentity: Hashable, Sendable {
    /// The certificate of this side, followed by those of the authorities between it and one that the peer trusts.
    public var certificates: TLSFile
    /// The private key, RSA or EC, which may be encrypted.
    public var key: TLSFile
    /// The passphrase of an encrypted ``key``.
    public var passphrase: String?

    public init(certificates: TLSFile, key: TLSFile, passphrase: String? = nil) {
        self.certificates = certificates
        self.key = key
        self.passphrase = passphrase
    }
}
