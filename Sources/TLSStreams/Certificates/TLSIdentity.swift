public import FoundationEssentials
public import Futures

/// The credentials of one side of a connection: its certificate, the certificates that lead from it to an authority,
/// and the private key.
public struct TLSIdentity {
    public enum Key {
        /// A private key, RSA or EC, and its passphrase if it is encrypted. The key signs in the context `signingOn`
        /// or, if that is `nil`, on the loop's thread.
        case file(TLSFile, passphrase: String?, signingOn: RemoteContext?)
        /// A key that this process does not have. The closure signs with it.
        case elsewhere((TLSSignatureRequest) throws -> Future<Data>)
    }

    /// This side's certificate, followed by those of the authorities between it and one that the peer trusts.
    public var certificates: TLSFile
    public var key: Key

    /// Creates an identity with a private key, RSA or EC, that this process reads. `passphrase` decrypts an encrypted
    /// key.
    ///
    /// A signature is slow: with 2048-bit RSA, it takes most of the time of a handshake. With `context`, for example
    /// `RemoteContext.pool`, the loop serves its other connections meanwhile. Each handshake then takes a little
    /// longer.
    public init(
        certificates: TLSFile, key: TLSFile, passphrase: String? = nil,
        signingOn context: RemoteContext? = nil
    ) {
        self.certificates = certificates
        self.key = .file(key, passphrase: passphrase, signingOn: context)
    }

    /// Creates an identity with a private key that is elsewhere, for example in another process or on another machine.
    /// The certificate's key has to be RSA or EC.
    ///
    /// Calls `sign` in each full handshake, on the loop's thread. The handshake waits for the future, within its time
    /// limit. If `sign` throws, if the future fails, or if the signature has an impossible size, the handshake fails
    /// with ``TLSError/Reason/notSigned``, and the peer gets the alert `internal_error`. If the handshake ends first,
    /// the future is cancelled. The signature itself is not checked: the peer does that.
    ///
    /// ```swift
    /// let identity = TLSIdentity(certificates: .path("server.pem")) { request in sign(request.bytes) }
    /// ```
    public init(
        certificates: TLSFile, sign: @escaping (_ request: TLSSignatureRequest) throws -> Future<Data>
    ) {
        self.certificates = certificates
        key = .elsewhere(sign)
    }
}

@available(
    *, unavailable, message: "An identity may hold a closure of its loop; make one on each loop that uses it."
)
extension TLSIdentity: Sendable {}
