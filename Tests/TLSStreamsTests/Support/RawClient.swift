import CFuturesTLS
import Foundation
import FuturesTesting
import TLSStreams

/// A client of OpenSSL's over a stream in memory, which may break rules, and the server at the other end.
@safe
final class RawClient {
    /// What a client is made with.
    struct Wish {
        var version: TLSVersion?
        /// The name that it asks for, in any spelling.
        var name: String?
        var identity: Authority?
        /// The certificates between that and an authority.
        var chain: [Authority] = []
        /// The protocol that it offers.
        var offer: String?
        var takesTickets = true
    }

    let ssl: OpaquePointer
    let stream: MemoryStream
    let server: Future<TLSConnection>
    private(set) var received = Data()
    private let context: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    init(
        on loop: EventLoop, _ serverContext: TLSContext, _ wish: Wish = Wish(),
        resuming session: RawSession? = nil
    ) throws {
        let far: MemoryStream
        (stream, far) = try MemoryStream.pair(on: loop)
        server = far.startTLS(server: serverContext)
        unsafe context = SSL_CTX_new(TLS_client_method())
        unsafe ssl = SSL_new(context)
        unsafe incoming = BIO_new(BIO_s_mem())
        unsafe outgoing = BIO_new(BIO_s_mem())
        unsafe SSL_set_bio(ssl, incoming, outgoing)
        unsafe SSL_set_connect_state(ssl)
        fulfil(wish)
        if let session { unsafe SSL_set_session(ssl, session.raw) }
        stream.forEachChunk { [unowned self] chunk in
            unsafe chunk.withUnsafeBytes { unsafe _ = BIO_write(incoming, $0.baseAddress, CInt($0.count)) }
            advance()
        }
        .ignoreFailure()
    }

    deinit {
        // Without this, OpenSSL would make its session useless.
        unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    private func fulfil(_ wish: Wish) {
        if let version = wish.version {
            for command in [SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION] {
                unsafe _ = SSL_ctrl(ssl, command, version.rawValue, nil)
            }
        }
        if var name = wish.name.map({ Array($0.utf8CString) }) {
            unsafe _ = SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if let identity = wish.identity {
            unsafe withCertificate(identity) { unsafe _ = SSL_use_certificate(ssl, $0) }
            for authority in wish.chain {
                unsafe withCertificate(authority) {
                    unsafe _ = SSL_ctrl(ssl, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer($0))
                }
            }
            unsafe withPEM(identity.key.pem) { bio in
                var isEncrypted = false
                let key = unsafe tls_private_key(bio, nil, 0, &isEncrypted)
                unsafe SSL_use_PrivateKey(ssl, key)
                unsafe EVP_PKEY_free(key)
            }
        }
        if let offer = wish.offer {
            let wire = [UInt8(offer.utf8.count)] + offer.utf8
            unsafe SSL_set_alpn_protos(ssl, wire, CUnsignedInt(wire.count))
        }
        if !wish.takesTickets { unsafe SSL_set_options(ssl, UInt64(1) << 14) }
    }

    private func withCertificate(_ authority: Authority, _ body: (OpaquePointer) -> Void) {
        unsafe withPEM(authority.certificate) { bio in
            var isBroken = false
            let certificate = unsafe tls_next_certificate(bio, &isBroken)!
            unsafe body(certificate)
            unsafe X509_free(certificate)
        }
    }

    private func withPEM(_ text: String, _ body: (OpaquePointer) -> Void) {
        unsafe Data(text.utf8).withUnsafeBytes { bytes in
            let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(bytes.count))!
            unsafe body(bio)
            unsafe BIO_free(bio)
        }
    }

    /// Goes on with the handshake, then reads what has come.
    func advance() {
        if unsafe SSL_do_handshake(ssl) == 1 {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = unsafe SSL_read(ssl, &bytes, CInt(bytes.count))
            if count > 0 { received += bytes.prefix(Int(count)) }
        }
        ERR_clear_error()
        flush()
    }

    /// The session as it is now.
    var session: RawSession? { unsafe SSL_get1_session(ssl).map { unsafe RawSession(owning: $0) } }

    func write(_ text: String) {
        unsafe _ = SSL_write(ssl, text, CInt(text.utf8.count))
        flush()
    }

    func writeEarly(_ text: String) -> Int {
        var count = 0
        unsafe SSL_write_early_data(ssl, text, text.utf8.count, &count)
        flush()
        return count
    }

    /// The first bytes of the client, which are not sent.
    func greeting() -> Data {
        unsafe SSL_do_handshake(ssl)
        ERR_clear_error()
        return takeOutput()
    }

    private func takeOutput() -> Data {
        var bytes = [UInt8](repeating: 0, count: 20_000)
        let count = unsafe BIO_read(outgoing, &bytes, CInt(bytes.count))
        return Data(bytes.prefix(Int(max(0, count))))
    }

    private func flush() {
        let bytes = takeOutput()
        if !bytes.isEmpty { stream.write(bytes) }
    }
}

/// A session of such a client.
@safe
final class RawSession {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe SSL_SESSION_free(raw) }
}
