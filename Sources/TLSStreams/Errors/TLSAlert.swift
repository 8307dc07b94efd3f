/// A message that tells the peer which error ends the connection.
public struct TLSAlert: RawRepresentable, Hashable, Sendable {
    /// The alert's number in the protocol.
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unexpectedMessage = TLSAlert(rawValue: 10)
    public static let badRecordMAC = TLSAlert(rawValue: 20)
    public static let handshakeFailure = TLSAlert(rawValue: 40)
    public static let badCertificate = TLSAlert(rawValue: 42)
    public static let unsupportedCertificate = TLSAlert(rawValue: 43)
    public static let certificateRevoked = TLSAlert(rawValue: 44)
    public static let certificateExpired = TLSAlert(rawValue: 45)
    public static let certificateUnknown = TLSAlert(rawValue: 46)
    public static let illegalParameter = TLSAlert(rawValue: 47)
    public static let unknownAuthority = TLSAlert(rawValue: 48)
    public static let accessDenied = TLSAlert(rawValue: 49)
    public static let decodeError = TLSAlert(rawValue: 50)
    public static let decryptError = TLSAlert(rawValue: 51)
    public static let protocolVersion = TLSAlert(rawValue: 70)
    public static let insufficientSecurity = TLSAlert(rawValue: 71)
    public static let internalError = TLSAlert(rawValue: 80)
    public static let inappropriateFallback = TLSAlert(rawValue: 86)
    public static let noRenegotiation = TLSAlert(rawValue: 100)
    public static let missingExtension = TLSAlert(rawValue: 109)
    public static let unrecognizedName = TLSAlert(rawValue: 112)
    public static let certificateRequired = TLSAlert(rawValue: 116)
    public static let noApplicationProtocol = TLSAlert(rawValue: 120)

    /// The names of the alerts in the standard.
    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow",
        40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate",
        44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown",
        47: "illegal_parameter",
        48: "unknown_ca", 49: "access_denied", 50: "decode_error", 51: "decrypt_error",
        70: "protocol_version",
        71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
        100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
        112: "unrecognized_name", 113: "bad_certificate_status_response", 115: "unknown_psk_identity",
        116: "certificate_required", 120: "no_application_protocol",
    ]

    /// The advice for an alert that the peer has sent.
    var advice: String {
        switch self {
        case .badCertificate, .unsupportedCertificate, .certificateRevoked, .certificateExpired,
            .certificateUnknown, .unknownAuthority:
            "it does not accept the certificate of this side"
        case .certificateRequired: "give this side a certificate"
        case .accessDenied: "the certificate of this side gives no access"
        case .protocolVersion, .inappropriateFallback: "allow a version that the peer speaks"
        case .handshakeFailure, .insufficientSecurity: "allow ciphers that the peer knows"
        case .unrecognizedName: "it does not serve that host name"
        case .noApplicationProtocol: "offer a protocol that it speaks"
        default: "look at its log"
        }
    }
}

extension TLSAlert: CustomStringConvertible {
    /// The alert's name in the standard, such as `unknown_ca`.
    public var description: String { Self.names[rawValue] ?? "\(rawValue)" }
}
