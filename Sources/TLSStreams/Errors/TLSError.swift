internal import ByteStreams
internal import FoundationEssentials

/// An error of an encrypted connection: its reason, the peer, and the certificate at fault.
public struct TLSError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        // The peer's certificate
        /// The certificate has expired.
        case certificateExpired
        /// The certificate is not valid yet. The clock of this machine may be wrong.
        case certificateNotYetValid
        /// The certificate is not valid for the expected host name or address.
        case wrongHost
        /// No trusted authority has signed the certificate, or a certificate between them is missing.
        case unknownAuthority
        /// The certificate is self-signed and not trusted.
        case selfSigned
        /// A revocation list of its issuer contains the certificate.
        case revoked
        /// There are revocation lists, but no valid one of this certificate's issuer.
        case noRevocationList
        /// The certificate is for another use, for example not for servers.
        case wrongPurpose
        /// A key is too short or a signature too weak.
        case weakCertificate
        /// The certificate is invalid in another way.
        case invalidCertificate
        /// ``TLSTrust/decide`` or the future of ``TLSTrust/decideLater`` returned `false`.
        case certificateRefused
        /// The peer had to send a certificate, and sent none.
        case noCertificate
        /// The closure that signs for this side threw, its future failed, or its result has an impossible size: see
        /// ``TLSIdentity/init(certificates:sign:)``.
        case notSigned
        // Negotiation
        /// The two sides have no TLS version in common.
        case noCommonVersion
        /// The two sides have no cipher, curve or signature in common.
        case noCommonCipher
        /// The two sides have no application protocol (ALPN) in common.
        case noCommonProtocol
        /// The peer has ended the connection with this alert.
        case alert(TLSAlert)
        // The peer does not speak TLS
        /// The peer has sent plain HTTP.
        case plainHTTP
        /// The peer has sent something that is not TLS.
        case notTLS
        // Ends
        /// The client has not sent its whole greeting in time.
        case noGreeting
        /// The peer has closed the connection during the handshake.
        case handshakeCut
        /// The handshake took too long.
        case handshakeTimedOut
        /// The peer has closed the connection without sending `close_notify`. The last bytes may be missing.
        case truncated
        /// A record was changed in transit, or its sender is faulty.
        case brokenRecord
        /// The peer has violated the protocol.
        case protocolViolation
    }

    public let reason: Reason
    /// The underlying connection as text, with its addresses if it is a socket.
    public let peer: String
    /// The certificate at fault. `nil` if the cause is another one.
    public let certificate: TLSCertificate?
    /// Details, such as the expected host, a time limit, or OpenSSL's message. May be empty.
    public let detail: String

    package init(_ reason: Reason, peer: String, certificate: TLSCertificate? = nil, detail: String = "") {
        self.reason = reason
        self.peer = peer
        self.certificate = certificate
        self.detail = detail
    }
}

extension TLSError: CustomStringConvertible {
    public var description: String { "TLS with \(peer): \(what)" }

    private var subject: String { certificate.map { "the certificate of “\($0)”" } ?? "the certificate" }
    private var particulars: String { detail.isEmpty ? "" : " (\(detail))" }

    private var what: String {
        switch reason {
        case .certificateExpired:
            "\(subject) has expired\(day(of: certificate?.notAfter)); the peer has to renew it"
        case .certificateNotYetValid:
            "\(subject) is not valid yet\(day(of: certificate?.notBefore)); look at the clock of this machine, or wait"
        case .wrongHost:
            "\(subject) is not valid for \(detail), but for \(names); connect to one of those, or let the "
                + "peer renew it with that name"
        case .unknownAuthority:
            "no trusted authority has signed \(subject)\(issuer); add the authority to the trust, or let "
                + "the peer send the intermediate certificates"
        case .selfSigned:
            "\(subject) is self-signed; add it to the trust, if it is the one you expect"
        case .revoked: "\(subject) has been revoked by its authority\(issuer); the peer has to renew it"
        case .noRevocationList:
            "there is no valid certificate revocation list for \(subject)\(issuer); give a new one from its authority"
        case .wrongPurpose:
            "\(subject) was not issued for this use (as a server's or a client's certificate); the peer "
                + "needs one that was"
        case .weakCertificate: "\(subject) is too weak\(particulars); the peer has to renew it"
        case .invalidCertificate: "\(subject) is invalid\(particulars); the peer has to renew it"
        case .certificateRefused: "TLSTrust.decide or decideLater has refused \(subject)"
        case .noCertificate: "the peer has sent no certificate, which is required; give the peer one"
        case .notSigned:
            "no signature was made for \(subject) of this side\(particulars); look at the closure that signs"
        case .noCommonVersion:
            "the two sides have no TLS version in common\(particulars); allow one that the peer speaks"
        case .noCommonCipher:
            "the two sides have no cipher in common\(particulars); allow one that the peer knows"
        case .noCommonProtocol:
            "the peer offers none of the application protocols of this side\(particulars); add to protocols "
                + "one that it speaks"
        case .alert(let alert): "the peer has ended the connection with the alert \(alert); \(alert.advice)"
        case .plainHTTP: "the peer speaks plain HTTP; it has to use https, or another port"
        case .notTLS: "the peer does not speak TLS\(particulars); look at the port"
        case .noGreeting:
            "the client has not sent its whole greeting within \(detail); raise TLSHandshakeLimits.greetingTimeout, or look "
                + "at the client"
        case .handshakeCut: "the peer has closed the connection during the handshake; look at its log"
        case .handshakeTimedOut:
            "the handshake took longer than \(detail); raise its time limit, or look at the peer"
        case .truncated:
            "the peer has closed the connection without close_notify; the received data may be cut off, so do not use it"
        case .brokenRecord:
            "a TLS record was changed on its way\(particulars); look at the peer, or at what lies between, "
                + "such as a proxy"
        case .protocolViolation: "the peer has violated the TLS protocol\(particulars); look at the peer"
        }
    }

    private func day(of date: Date?) -> String {
        date.map { " (\($0.formatted(.iso8601)))" } ?? ""
    }

    private var issuer: String { certificate.map { " (issuer “\($0.issuer)”)" } ?? "" }

    private var names: String {
        guard let names = certificate?.names, !names.isEmpty else { return "no name" }
        return names.joined(separator: ", ")
    }
}

extension TLSError: Disconnecting {
    package var meansDisconnection: Bool { reason == .truncated || reason == .handshakeCut }
}
