public import ByteStreams
internal import Futures
public import UVFutures

/// An encrypted connection. It is a ``ByteStreams/ByteStream``: reads, framing, pipes, limits and ends work as on any other.
///
/// You get a connection from ``connect(host:port:context:timeout:handshakeTimeout:resolver:limits:)``, from a
/// ``TLSServer``, or from ``ByteStreams/ByteStream/startTLS(client:host:limits:timeout:)`` on a stream that is open
/// already. ``ByteStreams/ByteStream/close(within:)`` and ``ByteStreams/ByteStream/shutdownWrite()`` send `close_notify`.
///
/// If the peer ends the connection without `close_notify`, bytes may be missing: reads first return what has come, and
/// then fail with ``TLSError/Reason/truncated``, never with an end. A peer that only closes after this side has closed is
/// no error.
///
/// Small writes of one turn of the loop share a record, which leaves at the end of the turn. The future of a write may
/// complete before, but never if more than 64 KiB wait: if the bytes cannot leave after that,
/// ``ByteStreams/ByteStream/closed`` fails.
public final class TLSConnection: ByteStream {
    private let tls: TLSTransport
    /// The version of the protocol.
    public let version: TLSVersion
    /// The cipher, in the words of OpenSSL.
    public let cipher: String
    /// The protocol above TLS that both sides have agreed on (ALPN). `nil` if none was offered.
    public let applicationProtocol: String?
    /// Whether the handshake has resumed an earlier session.
    public let isResumed: Bool
    /// The host name that the client has asked for (SNI) on this connection, in small letters, and without a dot at its
    /// end. `nil` if it has asked for none, or for an address.
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

    /// The stream beneath, which carries the encrypted bytes. Ask it for its addresses; do not read or write it.
    public var underlying: ByteStream { tls.inner }
    /// The address of the peer, if the stream beneath is a socket.
    public var peerAddress: SocketAddress? { (underlying as? SocketConnection)?.peerAddress }
    /// The address of this side, if the stream beneath is a socket.
    public var localAddress: SocketAddress? { (underlying as? SocketConnection)?.localAddress }
    /// The certificate of the peer. `nil` if it has sent none.
    public var peerCertificate: TLSCertificate? { peerCertificates.first }
    /// The certificates that the peer has sent, its own first. After a resumption, only its own is known.
    public var peerCertificates: [TLSCertificate] {
        core.checkThread()
        return tls.engine.peerCertificates
    }

    /// Changes the keys of both directions. Returns `false` in TLS 1.2, which cannot, and after the connection has
    /// ended. OpenSSL changes keys by itself before a cipher demands it.
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
