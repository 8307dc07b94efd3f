internal import CFuturesTLS

/// The rules for admission to a server, as bytes that are the same in every process. A session is resumed only under
/// the rules under which it was made.
@safe
struct AdmissionRules {
    private var bytes: [UInt8] = []

    mutating func add(_ field: [UInt8]) { bytes += Array("\(field.count):".utf8) + field }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    mutating func add(_ certificate: RawCertificate) {
        add(unsafe Self.digest { unsafe tls_certificate_digest(certificate.raw, $0) })
    }

    mutating func add(_ list: RawList) { add(unsafe Self.digest { unsafe tls_list_digest(list.raw, $0) }) }

    /// Replaces the bytes with their digest.
    mutating func condense() {
        bytes = unsafe Self.digest { unsafe tls_digest(bytes, bytes.count, $0) }
    }

    /// Returns the bytes of these rules for one of the server's names.
    func bytes(for serverName: String?) -> [UInt8] {
        var rules = self
        if let serverName { rules.add(serverName) }
        return rules.bytes
    }

    private static func digest(_ body: (UnsafeMutablePointer<UInt8>) -> Bool) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(TLS_DIGEST_SIZE))
        guard unsafe body(&digest) else { trap("OpenSSL has no memory for a digest.") }
        return digest
    }
}
