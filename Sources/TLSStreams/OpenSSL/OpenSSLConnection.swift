internal import CFuturesTLS
internal import FoundationEssentials
internal import Futures

/// Wraps an `SSL`. Does no I/O: the caller lends it bytes from the peer, and takes the bytes for the peer.
@safe
final class OpenSSLConnection {
    /// The outcome of a call.
    enum Step {
        /// It succeeded, with this many bytes.
        case done(Int)
        /// It needs more bytes from the peer.
        case wantsInput
        /// The handshake needs a context for the name that the client has asked for, as the client spells it.
        case wantsChoice(name: String?)
        /// The handshake needs a signature by a key that OpenSSL does not have.
        case wantsSignature(TLSSignatureRequest)
        /// The handshake needs a decision about the chain of the peer.
        case wantsDecision(chain: [TLSCertificate], isTrusted: Bool)
        /// The peer has sent `close_notify`.
        case ended
        case failed(OpenSSLFailure)

        var isDone: Bool { if case .done = self { true } else { false } }
    }

    /// The functions of the BIO, created once per process.
    nonisolated(unsafe) private static let method = {
        guard let method = unsafe tls_make_bio_method() else { trap("OpenSSL has no memory for a BIO.") }
        return unsafe method
    }()

    private let ssl: OpaquePointer
    private let link: UnsafeMutablePointer<tls_link>
    /// The contexts, which have to live as long as the `SSL`.
    private var contexts: [OpenSSLContext]
    /// The session that a client asks to resume.
    private var resumed: OpenSSLSession?
    /// The name that the client has asked for, in its canonical spelling.
    var serverName: String?
    /// The rules whose closures decide about the chain of the peer.
    var trust = TLSTrust() {
        didSet { unsafe link.pointee.judge = trust.asksClosure ? judge : nil }
    }
    /// Gets each session that may be resumed.
    var onSession: ((OpenSSLSession) -> Void)? {
        didSet { unsafe link.pointee.keep_session = keepSession }
    }

    init(_ context: OpenSSLContext, isServer: Bool) {
        contexts = [context]
        unsafe link = calloc(1, MemoryLayout<tls_link>.size)!.assumingMemoryBound(to: tls_link.self)
        guard let ssl = unsafe tls_make_connection(context.raw, Self.method, link, isServer) else {
            trap("OpenSSL has no memory for a connection.")
        }
        unsafe self.ssl = ssl
        unsafe link.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { unsafe tls_free_connection(ssl, link) }

    // MARK: Settings

    /// Sets whether the peer is asked for a certificate, whether it has to send one, and the time at which the
    /// certificate has to be valid.
    func verify(asks: Bool, requires: Bool, at now: Date) {
        unsafe tls_set_verification(ssl, asks, requires, Int64(now.timeIntervalSince1970))
    }

    /// Sets the host name or the address that the certificate of the server has to name.
    func expect(host: String, isAddress: Bool) -> Bool { unsafe tls_set_host(ssl, host, isAddress) }

    func resume(_ session: OpenSSLSession) {
        resumed = session
        ERR_clear_error()
        unsafe SSL_set_session(ssl, session.raw)
        ERR_clear_error()
    }

    /// Keeps the session that has replaced the resumed one because the server has renewed its ticket. In TLS 1.2,
    /// OpenSSL does not report the new session, and does not use the old one any more.
    func keepRenewedSession() {
        guard let resumed, let current = unsafe SSL_get_session(ssl), !resumed.isForOneUse else { return }
        if unsafe current != resumed.raw { unsafe onSession?(OpenSSLSession(keeping: current)) }
    }

    /// Continues with `context`. If the client `mayResume`, its session must have been made under the same rules and
    /// for the same name.
    func choose(_ context: OpenSSLContext, mayResume: Bool) {
        unsafe link.pointee.choice = TLS_CHOICE_MADE
        if contexts.last !== context {
            contexts.append(context)
            unsafe tls_switch_context(ssl, context.raw)
        }
        guard mayResume else { return unsafe tls_refuse_sessions(ssl) }
        let rules = context.rules.bytes(for: serverName)
        unsafe tls_bind_sessions(ssl, rules, rules.count)
    }

    /// Refuses the name that the client has asked for.
    func refuseName() { unsafe link.pointee.choice = TLS_CHOICE_REFUSED }

    /// Signs with the key of this side. `nil` if OpenSSL has the key.
    var sign: OpenSSLContext.Sign? { contexts.last?.sign }

    /// Provides the signature that was asked for. Returns whether it has a possible size.
    func answer(signature: Data) -> Bool {
        unsafe signature.withUnsafeBytes { bytes in
            unsafe tls_answer_signature(link, bytes.baseAddress, bytes.count)
            return unsafe link.pointee.answer
        }
    }

    /// Answers the question about the chain of the peer.
    func answer(accepting: Bool) { unsafe link.pointee.answer = accepting }

    func setRecordSize(_ size: Int) { unsafe tls_set_record_size(ssl, size) }

    // MARK: Bytes

    /// Lends `bytes` to OpenSSL while `body` runs, and returns how many of them it has not taken.
    func lend(_ bytes: RawSpan, during body: () -> Void) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe link.pointee.input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe link.pointee.input_size = bytes.count
            body()
            defer {
                unsafe link.pointee.input = nil
                unsafe link.pointee.input_size = 0
            }
            return unsafe link.pointee.input_size
        }
    }

    /// Records that the peer sends no more bytes.
    func inputEnded() { unsafe link.pointee.input_ended = true }

    /// Whether some of the lent bytes are left.
    var hasInput: Bool { unsafe link.pointee.input_size > 0 }

    var hasOutput: Bool { unsafe link.pointee.output_size > 0 }

    /// Gives the bytes for the peer to `body`, and then drops them.
    func takeOutput<Value>(_ body: (RawSpan) -> Value) -> Value {
        let bytes = unsafe UnsafeRawBufferPointer(start: link.pointee.output, count: link.pointee.output_size)
        defer { unsafe tls_drop_output(link) }
        return unsafe body(bytes.bytes)
    }

    // MARK: Calls

    func handshake() -> Step {
        unsafe step(tls_shake_hands(ssl, link, sign != nil || trust.decideLater != nil))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        unsafe step(tls_read(ssl, buffer.baseAddress, buffer.count))
    }

    /// Whether another read may return bytes before more arrive from the peer.
    var hasMore: Bool { unsafe link.pointee.input_size > 0 || SSL_has_pending(ssl) != 0 }

    func write(_ bytes: RawSpan) -> Step {
        unsafe bytes.withUnsafeBytes { bytes in unsafe step(tls_write(ssl, bytes.baseAddress, bytes.count)) }
    }

    /// Adds `close_notify` to the bytes for the peer.
    func tellEnd() { unsafe tls_tell_end(ssl) }

    /// Requests new keys. Returns `false` in TLS 1.2, which cannot do this.
    func renewKeys(both: Bool) -> Bool { unsafe tls_renew_keys(ssl, both) }

    private func step(_ outcome: tls_outcome) -> Step {
        switch outcome.error {
        case SSL_ERROR_NONE: return .done(outcome.count)
        case SSL_ERROR_WANT_READ: return .wantsInput
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_WANT_CLIENT_HELLO_CB:
            let bytes = unsafe UnsafeRawBufferPointer(
                start: link.pointee.server_name, count: link.pointee.server_name_size)
            return unsafe .wantsChoice(
                name: bytes.baseAddress == nil ? nil : String(decoding: bytes, as: UTF8.self))
        case CInt(TLS_SUSPENDED): return question
        default: return .failed(failure(outcome.code))
        }
    }

    private var question: Step {
        if let chain = unsafe link.pointee.chain {
            return unsafe .wantsDecision(chain: certificates(of: chain), isTrusted: link.pointee.is_trusted)
        }
        guard let certificate = contexts.last?.certificate else {
            trap("A handshake asks for a signature without a certificate.")
        }
        let algorithm: TLSSignatureRequest.Algorithm =
            switch unsafe link.pointee.algorithm {
            case TLS_ECDSA: .ecdsa
            case TLS_RSA_PSS: .rsaPSS
            default: .rsaPKCS1
            }
        return unsafe .wantsSignature(
            TLSSignatureRequest(
                algorithm: algorithm, hash: .init(rawValue: Int(link.pointee.hash)) ?? .sha256,
                bytes: Data(bytes: link.pointee.message, count: link.pointee.message_size),
                certificate: certificate))
    }

    private func failure(_ code: UInt) -> OpenSSLFailure {
        var failure = OpenSSLFailure(code: code)
        failure.fault = unsafe link.pointee.fault
        if let faulty = unsafe link.pointee.faulty { failure.certificate = unsafe TLSCertificate(faulty) }
        failure.firstBytes = unsafe withUnsafeBytes(of: link.pointee.first) { bytes in
            unsafe Array(bytes.prefix(link.pointee.first_size))
        }
        return failure
    }

    // MARK: Negotiated values

    var version: TLSVersion { unsafe TLSVersion(rawValue: Int(SSL_version(ssl))) ?? .tls12 }
    var cipher: String { unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))) }
    var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var size: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &size)
        guard let bytes = unsafe bytes, size > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(size)), as: UTF8.self)
    }

    /// The chain that the peer has sent, its own certificate first. After a resumption only its own is known.
    var peerCertificates: [TLSCertificate] {
        guard let own = unsafe SSL_get0_peer_certificate(ssl) else { return [] }
        let first = unsafe TLSCertificate(own)
        let chain = unsafe (0..<max(0, tls_peer_count(ssl))).map { index in
            unsafe TLSCertificate(tls_peer_chain_certificate(ssl, index))
        }
        return chain.first == first ? chain : [first] + chain
    }
}

/// A session that a client may resume.
@safe
final class OpenSSLSession {
    let raw: OpaquePointer

    init(keeping raw: OpaquePointer) {
        unsafe SSL_SESSION_up_ref(raw)
        unsafe self.raw = raw
    }

    deinit { unsafe SSL_SESSION_free(raw) }

    /// The end of the session: the earliest expiry of the certificates and revocation lists on which it rests.
    var end: Date { unsafe Date(timeIntervalSince1970: Double(tls_session_end(raw))) }

    /// Whether this is a TLS 1.3 session, which is used only once.
    var isForOneUse: Bool { unsafe SSL_SESSION_get_protocol_version(raw) == TLS1_3_VERSION }
}

private func connection(_ owner: UnsafeMutableRawPointer?) -> OpenSSLConnection {
    unsafe Unmanaged<OpenSSLConnection>.fromOpaque(owner!).takeUnretainedValue()
}

private func judge(_ owner: UnsafeMutableRawPointer?, _ store: OpaquePointer?, _ isTrusted: Bool) -> Bool {
    unsafe connection(owner).trust.decide?(certificates(of: store), isTrusted) ?? isTrusted
}

private func certificates(of store: OpaquePointer?) -> [TLSCertificate] {
    unsafe (0..<max(0, tls_chain_count(store))).map {
        unsafe TLSCertificate(tls_chain_certificate(store, $0))
    }
}

private func keepSession(_ owner: UnsafeMutableRawPointer?, _ session: OpaquePointer?) {
    unsafe connection(owner).onSession?(OpenSSLSession(keeping: session!))
}
