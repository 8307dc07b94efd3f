import TLSStreams
import Testing

struct TLSAlertTests {
    /// As the registry of the standard has them.
    private static let names: [(alert: TLSAlert, name: String)] = [
        (TLSAlert(rawValue: 0), "close_notify"), (.unexpectedMessage, "unexpected_message"),
        (.badRecordMAC, "bad_record_mac"), (TLSAlert(rawValue: 22), "record_overflow"),
        (.handshakeFailure, "handshake_failure"), (.badCertificate, "bad_certificate"),
        (.unsupportedCertificate, "unsupported_certificate"), (.certificateRevoked, "certificate_revoked"),
        (.certificateExpired, "certificate_expired"), (.certificateUnknown, "certificate_unknown"),
        (.illegalParameter, "illegal_parameter"), (.unknownAuthority, "unknown_ca"),
        (.accessDenied, "access_denied"), (.decodeError, "decode_error"), (.decryptError, "decrypt_error"),
        (.protocolVersion, "protocol_version"), (.insufficientSecurity, "insufficient_security"),
        (.internalError, "internal_error"), (.inappropriateFallback, "inappropriate_fallback"),
        (TLSAlert(rawValue: 90), "user_canceled"), (.noRenegotiation, "no_renegotiation"),
        (.missingExtension, "missing_extension"), (TLSAlert(rawValue: 110), "unsupported_extension"),
        (.unrecognizedName, "unrecognized_name"),
        (TLSAlert(rawValue: 113), "bad_certificate_status_response"),
        (TLSAlert(rawValue: 115), "unknown_psk_identity"), (.certificateRequired, "certificate_required"),
        (.noApplicationProtocol, "no_application_protocol"),
    ]

    @Test("each alert of the standard has its name, and no other number has one")
    func everyName() {
        for (alert, name) in Self.names { #expect(alert.description == name) }
        let named = Set(Self.names.map { $0.alert.rawValue })
        for number in UInt8.min...UInt8.max where !named.contains(number) {
            #expect(TLSAlert(rawValue: number).description == "\(number)")
        }
    }

    @Test("names of alerts and advice")
    func alerts() {
        #expect(
            TLSAlert.unknownAuthority.description == "unknown_ca"
                && TLSAlert(rawValue: 200).description == "200")
        let error = TLSError(.alert(.certificateRequired), peer: "x")
        #expect(
            "\(error)"
                == "TLS with x: the peer has ended the connection with the alert certificate_required; give this side a certificate"
        )
    }

    @Test("the advice for an alert is that for its kind")
    func advice() {
        let advice: [(String, [TLSAlert])] = [
            (
                "it does not accept the certificate of this side",
                [
                    .badCertificate, .unsupportedCertificate, .certificateRevoked, .certificateExpired,
                    .certificateUnknown, .unknownAuthority,
                ]
            ),
            ("the certificate of this side gives no access", [.accessDenied]),
            ("allow a version that the peer speaks", [.protocolVersion, .inappropriateFallback]),
            ("allow ciphers that the peer knows", [.handshakeFailure, .insufficientSecurity]),
            ("it does not serve that host name", [.unrecognizedName]),
            ("offer a protocol that it speaks", [.noApplicationProtocol]),
            ("look at its log", [.internalError, TLSAlert(rawValue: 200)]),
        ]
        for (text, alerts) in advice {
            for alert in alerts { #expect("\(TLSError(.alert(alert), peer: "x"))".hasSuffix("; \(text)")) }
        }
    }

    @Test("errors of the records and the ciphers say what to do")
    func texts() {
        let texts: [(TLSError.Reason, String)] = [
            (.noCommonCipher, "the two sides have no cipher in common; allow one that the peer knows"),
            (
                .brokenRecord,
                "a TLS record was changed on its way; look at the peer, or at what lies between, such as a proxy"
            ),
        ]
        for (reason, text) in texts { #expect("\(TLSError(reason, peer: "x"))" == "TLS with x: \(text)") }
    }

    @Test("errors about a certificate that is not known name none")
    func unknownCertificate() {
        let texts: [(TLSError.Reason, String, String)] = [
            (.certificateExpired, "", "the certificate has expired; the peer has to renew it"),
            (
                .wrongHost, "example.org",
                "the certificate is not valid for example.org, but for no name; connect to one of those, or let "
                    + "the peer renew it with that name"
            ),
            (
                .unknownAuthority, "",
                "no trusted authority has signed the certificate; add the authority to the trust, or let the "
                    + "peer send the intermediate certificates"
            ),
            (
                .invalidCertificate, "path length constraint exceeded",
                "the certificate is invalid (path length constraint exceeded); the peer has to renew it"
            ),
        ]
        for (reason, detail, text) in texts {
            #expect("\(TLSError(reason, peer: "x", detail: detail))" == "TLS with x: \(text)")
        }
    }
}
