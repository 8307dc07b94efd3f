public import ByteStreams
internal import Futures
public import SystemIO

/// An encrypted connection. It is a ``ByteStreams/ByteStream``: reading, framing, pipes, limits and closing work as on
/// any other.
///
/// You get a connection from ``connect(host:port:context:timeout:handshakeTimeout:resolver:limits:)``, from a
/// ``TLSServer``, or from ``ByteStreams/ByteStream/startTLS(client:host:limits:timeout:)`` on a stream that is already
/// open. ``ByteStreams/ByteStream/close(within:)`` and ``ByteStreams/ByteStream/shutdownWrite()`` send `close_notify`.
///
/// If the peer ends the connection without `close_notify`, bytes may be missing: reads first return what has arrived,
/// and then fail with ``TLSError/Reason/truncated`` instead of reporting the end. If this side has closed first, the
/// missing `close_notify` is not an error.
///
/// Small writes in one turn of the loop share a record, which is sent at the end of the turn. The future of a write may
/// complete before that, but never while more than 64 KiB wait. If the bytes then cannot be sent,
/// ``ByteStreams/ByteStream/closed`` fails.
public final class TLSConnection: ByteStream {
    private let tls: TLSTransport
    /// The TLS version of the connection.
    public let version: TLSVersion
    /// The cipher, by OpenSSL's name.
    public let cipher: String
    /// The application protocol that both sides have agreed on (ALPN). `nil` if none was negotiated.
    public let applicationProtocol: String?
    /// Whether the handshake has resumed an earlier session.
    public let isResumed: Bool
    /// The host name that the client has asked for (SNI) on this connection, in lower case and without a trailing dot.
    /// `nil` if it has asked for none, or for an address.
    public let serverName: String?

    init(_ transport: TLSTransport, limits: StreamLimits) {
        tls = transport
        let engine = transport.engine
        version = engine.version
        cipher = engine.cipher
        applicationProtocol = engine.applicationProtocol
        isResumed = engine.isResumed
        serverName = engine.serverName
        let core = transport.inner.core
        super.init(loop: core, transport: transport, limits: .of(limits, on: core))
        transport.stream = self
    }

    /// The underlying stream, which carries the encrypted bytes. Ask it for its addresses; do not read or write it.
    public var underlying: ByteStream { tls.inner }
    /// The address of the peer, if the underlying stream is a socket.
    public var peerAddress: SocketAddress? { (underlying as? SocketConnection)?.peerAddress }
    /// The address of this side, if the underlying stream is a socket.
    public var localAddress: SocketAddress? { (underlying as? SocketConnection)?.localAddress }
    /// The certificate of the peer. `nil` if it has sent none.
    public var peerCertificate: TLSCertificate? { peerCertificates.first }
    /// The certificates that the peer has sent, its own first. After a resumption, only its own is known.
    public var peerCertificates: [TLSCertificate] {
        core.checkThread()
        return tls.engine.peerCertificates
    }

    /// Renews the keys in both directions. Returns `false` in TLS 1.2, which cannot do this, and after the connection
    /// has ended. OpenSSL renews keys by itself before a cipher requires it.
    @discardableResult
    public func renewKeys() -> Bool {
        core.checkThread()
        guard isOpen, tls.engine.renewKeys(both: true) else { return false }
        _ = tls.engine.handshake()
        tls.flush()
        return true
    }
}

extension TLSConnection: CustomStringConvertible {
    /// The connection in one line, such as `TLSConnection over TCPConnection 12 (127.0.0.1:7007 – 127.0.0.1:51234)`.
    public var description: String { "TLSConnection over \(tls.peer)" }
}
