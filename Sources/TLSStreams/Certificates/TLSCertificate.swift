public import FoundationEssentials

/// A certificate: its owner, its issuer, and its period of validity.
public struct TLSCertificate: Hashable, Sendable {
    /// The name of the owner, such as `CN=example.org,O=Example`. Host names are checked against ``names``, not against
    /// this name.
    public let subject: String
    /// The name of the authority that has signed the certificate.
    public let issuer: String
    /// The serial number, in hexadecimal digits.
    public let serialNumber: String
    /// The host names and the addresses for which the certificate is valid: its subject alternative names.
    public let names: [String]
    public let notBefore: Date
    public let notAfter: Date
    /// The whole certificate in DER form, for example to compare it, or to compute its fingerprint.
    public let der: Data
}

extension TLSCertificate: CustomStringConvertible {
    /// The subject or, if that is empty, the first of the ``names``.
    public var description: String {
        subject.isEmpty ? names.first ?? "a certificate without a name" : subject
    }
}
