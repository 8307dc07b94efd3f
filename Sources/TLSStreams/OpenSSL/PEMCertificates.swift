internal import CFuturesTLS
internal import FoundationEssentials
internal import Futures

/// An OpenSSL certificate, which is freed with this object.
@safe
final class RawCertificate {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe X509_free(raw) }

    /// Returns the certificates of a PEM file.
    static func all(in file: TLSFile, _ what: String) throws -> [RawCertificate] {
        let (all, isBroken) = try unsafe readPEM(file, what) { bio, isBroken in
            unsafe tls_next_certificate(bio, &isBroken).map { unsafe RawCertificate(owning: $0) }
        }
        try requireArgument(
            !isBroken,
            "certificate \(all.count + 1) of \(file.place) is malformed; give a PEM file that openssl reads")
        try requireArgument(
            !all.isEmpty, "there is no certificate in \(file.place); give a PEM file with “BEGIN CERTIFICATE”"
        )
        return all
    }
}

/// An OpenSSL certificate revocation list (CRL), which is freed with this object.
@safe
final class RawList {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe X509_CRL_free(raw) }

    /// Returns the revocation lists of a PEM file.
    static func all(in file: TLSFile) throws -> [RawList] {
        let (all, isBroken) = try unsafe readPEM(file, "a certificate revocation list") { bio, isBroken in
            unsafe tls_next_list(bio, &isBroken).map { unsafe RawList(owning: $0) }
        }
        try requireArgument(
            !isBroken && !all.isEmpty,
            "there is no certificate revocation list in \(file.place); give a PEM file with “BEGIN X509 CRL”"
        )
        return all
    }
}

/// Returns what `next` reads from a PEM file until it returns `nil`, and whether it has said that the file is broken.
private func readPEM<Item>(
    _ file: TLSFile, _ what: String, _ next: (OpaquePointer, inout Bool) -> Item?
) throws -> (all: [Item], isBroken: Bool) {
    var (all, isBroken): ([Item], Bool) = ([], false)
    try unsafe withPEM(file, what) { bio in
        while let item = unsafe next(bio, &isBroken) { all.append(item) }
    }
    return (all, isBroken)
}

/// Calls `body` with a BIO over the contents of `file`.
func withPEM<Value>(
    _ file: TLSFile, _ what: String, _ body: (OpaquePointer) throws -> Value
) throws -> Value {
    var contents = try file.contents(of: what)
    defer { contents.wipe() }
    return try unsafe contents.withUnsafeBytes { bytes in
        guard let bio = unsafe tls_open_bytes(bytes.baseAddress, bytes.count) else {
            throw FutureError.invalidArgument(
                "\(what) of \(bytes.count) bytes cannot be read; give a PEM file")
        }
        defer { unsafe BIO_free(bio) }
        return try unsafe body(bio)
    }
}

extension Data {
    /// Overwrites the bytes, unless other code holds them, too.
    fileprivate mutating func wipe() {
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

extension TLSCertificate {
    init(_ certificate: RawCertificate) { unsafe self.init(certificate.raw) }

    /// Copies the fields of an `X509`.
    init(_ raw: OpaquePointer) {
        let names = unsafe Self.text(tls_alternative_names(raw))
        var der = unsafe Data(count: Int(max(0, tls_der(raw, nil))))
        unsafe der.withUnsafeMutableBytes { bytes in
            unsafe _ = tls_der(raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        unsafe self.init(
            subject: Self.text(tls_subject(raw)), issuer: Self.text(tls_issuer(raw)),
            serialNumber: Self.text(tls_serial(raw)), names: names.split(separator: "\n").map(String.init),
            notBefore: Date(timeIntervalSince1970: Double(tls_start(raw))),
            notAfter: Date(timeIntervalSince1970: Double(tls_end(raw))), der: der)
    }

    /// Converts `text`, and frees it.
    private static func text(_ text: UnsafeMutablePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
