internal import CFuturesTLS
internal import FoundationEssentials
internal import Futures

/// An `SSL_CTX` and the data for its callbacks. Connections keep it alive.
@safe
final class OpenSSLContext {
    typealias Sign = (TLSSignatureRequest, LoopCore) throws -> Future<Data>

    let raw: OpaquePointer
    private let settings: UnsafeMutablePointer<tls_settings>
    /// The certificate of this side.
    private(set) var certificate: TLSCertificate?
    /// Signs with the key of this side. `nil` if OpenSSL has the key.
    private(set) var sign: Sign?
    private(set) var rules = AdmissionRules()

    /// Creates a context: a client's if `clientCertificates` is `nil`, or else a server's.
    init(
        parameters: TLSParameters, trust: TLSTrust, identity: TLSIdentity?,
        clientCertificates: TLSServerConfiguration.ClientCertificates? = nil, ticketKeys: TLSTicketKeys? = nil
    ) throws {
        let isServer = clientCertificates != nil
        let wire = try Self.wireFormat(of: parameters.protocols)
        ERR_clear_error()
        guard let raw = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            trap("OpenSSL has no memory for a context.")
        }
        unsafe self.raw = raw
        unsafe settings = .allocate(capacity: 1)
        unsafe settings.initialize(to: tls_settings())
        unsafe settings.pointee.protocols_size = UInt32(wire.count)
        if !wire.isEmpty {
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: wire.count)
            unsafe bytes.initialize(from: wire, count: wire.count)
            unsafe settings.pointee.protocols = bytes
        }
        setTicketKeys(ticketKeys)
        try requireArgument(
            unsafe tls_prepare_context(raw, settings, isServer),
            "OpenSSL does not accept the protocols \(parameters.protocols); give other names")
        guard unsafe tls_prepare_sessions(raw, settings, isServer) else {
            trap("OpenSSL has no random bytes for a key.")
        }
        let versions = parameters.versions
        unsafe _ = tls_set_versions(
            raw, CInt(versions.lowerBound.rawValue), CInt(versions.upperBound.rawValue))
        // The part after a zero byte may exclude ciphers, and OpenSSL would ignore it.
        try requireArgument(
            !parameters.ciphers.utf8.contains(0),
            "the ciphers \(parameters.ciphers.debugDescription) contain a zero byte, which would end the "
                + "list; leave it out")
        let takesCiphers = unsafe SSL_CTX_set_cipher_list(raw, parameters.ciphers) == 1
        ERR_clear_error()
        try requireArgument(
            takesCiphers,
            "OpenSSL knows no cipher in “\(parameters.ciphers)”; give names as `openssl ciphers` prints them")
        rules.add("\(clientCertificates == .required), \(clientCertificates == .requested)")
        rules.add("\(versions.lowerBound.rawValue) to \(versions.upperBound.rawValue)")
        rules.add(parameters.ciphers)
        rules.add(wire)
        try setTrust(trust, naming: isServer)
        if let identity { try setIdentity(identity) }
        rules.condense()
    }

    deinit {
        unsafe SSL_CTX_free(raw)
        unsafe settings.pointee.protocols?.deallocate()
        unsafe OPENSSL_cleanse(settings, MemoryLayout<tls_settings>.size)
        unsafe settings.deallocate()
    }

    private static func wireFormat(of protocols: [String]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for name in protocols {
            try requireArgument(
                (1...255).contains(name.utf8.count),
                "the name of a protocol must have 1 to 255 bytes, not \(name.utf8.count)")
            bytes.append(UInt8(name.utf8.count))
            bytes += name.utf8
        }
        return bytes
    }

    private func setTicketKeys(_ keys: TLSTicketKeys?) {
        guard let keys else { return }
        unsafe settings.pointee.ticket_key_count = CInt(keys.keys.count)
        unsafe withUnsafeMutableBytes(of: &settings.pointee.ticket_keys) { all in
            unsafe all.copyBytes(from: keys.keys.joined())
        }
    }

    private func setTrust(_ trust: TLSTrust, naming: Bool) throws {
        if trust.includesSystem {
            unsafe SSL_CTX_set_default_verify_paths(raw)
            ERR_clear_error()
            // The system's authorities vary between machines and over time, so these rules equal no others.
            rules.add((0..<16).map { _ in .random(in: 0...255) })
        }
        for file in trust.authorities {
            for certificate in try RawCertificate.all(in: file, "an authority") {
                unsafe _ = tls_trust(raw, certificate.raw)
                rules.add(certificate)
                // A server tells its clients which authorities it accepts.
                if naming { unsafe SSL_CTX_add_client_CA(raw, certificate.raw) }
            }
        }
        for file in trust.revocationLists {
            for list in try RawList.all(in: file) {
                unsafe _ = tls_add_list(raw, list.raw)
                rules.add(list)
            }
        }
    }

    private func setIdentity(_ identity: TLSIdentity) throws {
        let chain = try RawCertificate.all(in: identity.certificates, "a certificate")
        rules.add("identity")
        for certificate in chain { rules.add(certificate) }
        let own = TLSCertificate(chain[0])
        let key = try key(of: identity, for: chain[0], own)
        ERR_clear_error()
        let isTaken =
            unsafe SSL_CTX_use_certificate(raw, chain[0].raw) == 1
            && SSL_CTX_use_PrivateKey(raw, key.raw) == 1
            && chain.dropFirst().allSatisfy { unsafe tls_add_chain_certificate(raw, $0.raw) }
        let reason = OpenSSLFailure(code: tls_first_error()).text
        try requireArgument(
            isTaken,
            "OpenSSL does not accept the certificates of “\(own)” (\(reason)); renew them with stronger "
                + "keys and signatures"
        )
        certificate = own
    }

    private func key(
        of identity: TLSIdentity, for certificate: RawCertificate, _ own: TLSCertificate
    ) throws -> PrivateKey {
        switch identity.key {
        case .elsewhere(let closure):
            sign = { request, _ in try closure(request) }
            return try PrivateKey(distantFor: certificate, own)
        case .file(let file, let passphrase, let context):
            let key = try PrivateKey(file, passphrase)
            try requireArgument(
                unsafe tls_key_fits(certificate.raw, key.raw),
                "the key of \(file.place) does not belong to the certificate of “\(own)”; give the key of that certificate"
            )
            guard let context else { return key }
            sign = { request, loop in context.execute(on: loop) { try key.sign(request) } }
            return try PrivateKey(distantFor: certificate, own)
        }
    }
}
