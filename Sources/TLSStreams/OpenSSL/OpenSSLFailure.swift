internal import CFuturesTLS

/// A failure as OpenSSL reports it: an error of its error queue, or a fault of the peer's certificates.
struct OpenSSLFailure {
    let code: UInt
    /// The fault of the peer's certificates, or `X509_V_OK`.
    var fault: CInt = X509_V_OK
    var certificate: TLSCertificate?
    /// The first bytes that the peer has sent.
    var firstBytes: [UInt8] = []

    /// The reason in OpenSSL's words.
    var text: String {
        if fault != X509_V_OK { return unsafe String(cString: tls_fault_text(fault)) }
        return unsafe tls_reason(code).map { unsafe String(cString: $0) } ?? ""
    }

    /// Whether the bytes ended without `close_notify`.
    var isEnd: Bool { code == 0 || tls_reason_of(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING }

    var reason: TLSError.Reason {
        if fault != X509_V_OK { return Self.reason(ofFault: fault) }
        if let alert = UInt8(exactly: tls_alert_of(code)) { return .alert(TLSAlert(rawValue: alert)) }
        let reason = tls_reason_of(code)
        if reason == SSL_R_HTTP_REQUEST || speaksHTTP { return .plainHTTP }
        if !firstBytes.isEmpty, !speaksTLS { return .notTLS }
        return switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_WRONG_SSL_VERSION,
            SSL_R_WRONG_VERSION_NUMBER, SSL_R_INAPPROPRIATE_FALLBACK, SSL_R_NO_PROTOCOLS_AVAILABLE:
            .noCommonVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_KEY_SHARE,
            SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS,
            SSL_R_WRONG_CIPHER_RETURNED:
            .noCommonCipher
        case SSL_R_NO_APPLICATION_PROTOCOL: .noCommonProtocol
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .noCertificate
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_BAD_RECORD_TYPE, SSL_R_RECORD_LENGTH_MISMATCH,
            SSL_R_ENCRYPTED_LENGTH_TOO_LONG, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_DATA_LENGTH_TOO_LONG,
            SSL_R_DECRYPTION_FAILED:
            .brokenRecord
        default: .protocolViolation
        }
    }

    /// Whether the first bytes can begin a record.
    private var speaksTLS: Bool {
        (20...23).contains(firstBytes[0]) && (firstBytes.count < 2 || firstBytes[1] == 3)
    }

    private var speaksHTTP: Bool {
        let text = String(decoding: firstBytes, as: UTF8.self)
        return ["GET ", "POST ", "HEAD ", "PUT ", "HTTP/", "OPTIO", "CONNE", "DELET", "PATCH"].contains {
            text.hasPrefix($0)
        }
    }

    private static func reason(ofFault fault: CInt) -> TLSError.Reason {
        switch fault {
        case X509_V_ERR_CERT_HAS_EXPIRED: .certificateExpired
        case X509_V_ERR_CERT_NOT_YET_VALID: .certificateNotYetValid
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_CERT_SIGNATURE_FAILURE:
            .unknownAuthority
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID,
            X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
            .noRevocationList
        case X509_V_ERR_INVALID_PURPOSE: .wrongPurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            .weakCertificate
        case X509_V_ERR_APPLICATION_VERIFICATION: .certificateRefused
        default: .invalidCertificate
        }
    }
}
