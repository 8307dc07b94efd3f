internal import ByteStreams
internal import Glibc

/// A TCP connection.
///
/// Made by ``connect(host:port:localHost:localPort:timeout:resolver:limits:on:)``, ``SocketListener/accept()`` of a ``TCPListener``, and
/// ``TCPServer``. Small writes are sent at once (``noDelay``).
public final class TCPConnection: SocketConnection {
    var tcp: UVTCP { socket as! UVTCP }

    override class var families: [CInt] { [AF_INET, AF_INET6] }

    /// The socket is connected and knows its addresses. `limits` have been validated.
    init(_ socket: UVTCP, limits: SharedLimits) {
        super.init(socket, limits: limits)
        if !socket.noDelay { socket.setNoDelay(true) }
    }

    /// Whether small writes are sent at once, instead of waiting until what went before is acknowledged
    /// (Nagle). On, unless changed. Sets `TCP_NODELAY`.
    public var noDelay: Bool {
        get { tcp.noDelay }
        set {
            loop.core.checkThread()
            tcp.setNoDelay(newValue)
        }
    }
}
