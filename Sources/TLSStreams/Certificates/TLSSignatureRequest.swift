public import FoundationEssentials

/// A request to sign bytes with a private key during a handshake: see ``TLSIdentity/init(certificates:sign:)``.
public struct TLSSignatureRequest: Hashable, Sendable {
    public enum Algorithm: Sendable {
        /// ECDSA with the key's own curve. The signature is in DER form, as OpenSSL and most services make it.
        case ecdsa
        /// RSA with PKCS #1 v1.5 padding.
        case rsaPKCS1
        /// RSA with PSS padding. Its mask uses the request's hash, too, and the salt is as long as the hash.
        case rsaPSS
    }

    /// A hash function: SHA-2 with this number of bits.
    public enum Hash: Int, Sendable {
        case sha224 = 224
        case sha256 = 256
        case sha384 = 384
        case sha512 = 512
    }

    public let algorithm: Algorithm
    public let hash: Hash
    /// The bytes to hash and to sign.
    public let bytes: Data
    /// The certificate of the key.
    public let certificate: TLSCertificate
}
