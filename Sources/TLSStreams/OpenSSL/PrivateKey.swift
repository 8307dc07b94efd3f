internal import CFuturesTLS
internal import FoundationEssentials
internal import Futures

/// A private key held by OpenSSL, which wipes it when it is released.
@safe
final class PrivateKey: @unchecked Sendable {
    // OpenSSL has its own locks for the mutable parts of a key.
    let raw: OpaquePointer

    /// The provider of stand-ins for keys that OpenSSL does not have.
    nonisolated(unsafe) private static let distance = {
        guard let distance = unsafe tls_make_distance() else {
            trap("OpenSSL has no memory for external keys.")
        }
        return unsafe distance
    }()

    /// Creates a stand-in for the key of `certificate`. OpenSSL then asks for each signature.
    init(distantFor certificate: RawCertificate, _ own: TLSCertificate) throws {
        guard let raw = unsafe tls_distant_key(Self.distance, certificate.raw) else {
            throw FutureError.invalidArgument(
                "the certificate of “\(own)” has a key that cannot be external; give a certificate with an RSA or EC key"
            )
        }
        unsafe self.raw = raw
    }

    init(_ file: TLSFile, _ passphrase: String?) throws {
        var isEncrypted = false
        let raw = unsafe try withPEM(file, "a private key") { bio in
            unsafe tls_private_key(bio, passphrase, passphrase?.utf8.count ?? 0, &isEncrypted)
        }
        let place = file.place
        guard let raw = unsafe raw else {
            let fault =
                !isEncrypted
                ? "there is no private key in \(place); give a PEM file with “BEGIN PRIVATE KEY”"
                : passphrase == nil
                    ? "the private key in \(place) is encrypted; give its passphrase"
                    : "the private key in \(place) cannot be decrypted with the given passphrase; give the right one"
            throw FutureError.invalidArgument(fault)
        }
        unsafe self.raw = raw
    }

    deinit { unsafe EVP_PKEY_free(raw) }

    /// Signs `request`, on any thread.
    func sign(_ request: TLSSignatureRequest) throws -> Data {
        let algorithm =
            switch request.algorithm {
            case .ecdsa: TLS_ECDSA
            case .rsaPKCS1: TLS_RSA_PKCS1
            case .rsaPSS: TLS_RSA_PSS
            }
        var signature = unsafe Data(count: Int(EVP_PKEY_get_size(raw)))
        let count = unsafe signature.withUnsafeMutableBytes { room in
            unsafe request.bytes.withUnsafeBytes { bytes in
                unsafe tls_sign(
                    raw, algorithm, CInt(request.hash.rawValue), bytes.baseAddress, bytes.count,
                    room.baseAddress, room.count)
            }
        }
        try requireArgument(
            count > 0,
            "OpenSSL cannot sign with the key of “\(request.certificate)”; look at its size and its kind")
        return signature.prefix(count)
    }
}
