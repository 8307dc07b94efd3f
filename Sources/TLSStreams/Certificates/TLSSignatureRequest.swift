public import FoundationEssentials

/// What a private key is to sign in a handshake: see ``TLSIdentity/init(certificates:sign:)``.
public struct TLSSignatureRequest: Hashable, Sendable {
    public enum Algorithm: Sendable {
        /// ECDSA with the key's own curve. The signature is in DER form, as OpenSSL and most services make it.
        case ecdsa
        /// RSA with the padding of PKCS #1, version 1.5.
        case rsaPKCS1
        /// RSA with the padding PSS, with the hash of the request for its mask, too, and a salt as long as the hash.
        case rsaPSS
    }

    /// A hash function, SHA-2 with so many bits.
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

    package init(algorithm: Algorithm, hash: Hash, bytes: Data, certificate: TLSCertificate) {
        self.algorithm = algorithm
        self.hash = hash
        self.bytes = bytes
        self.certificate = certificate
    }
}
