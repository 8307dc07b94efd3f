internal import ByteStreams
internal import Glibc

/// A TCP connection.
///
/// You get a connection from ``connect(host:port:localHost:localPort:timeout:resolver:limits:on:)``, from
/// ``SocketListener/accept()`` of a ``TCPListener``, or from a ``TCPServer``, which passes it to the handler. By
/// default, small writes are sent at once (see ``noDelay``).
public final class TCPConnection: SocketConnection {
    var tcp: any TCPTransport { socket.tcpTransport! }

    override class var families: [CInt] { [AF_INET, AF_INET6] }

    /// Creates a connection from a connected socket that knows its addresses. The caller has validated `limits`.
    init(_ socket: any TCPTransport, limits: SharedLimits) {
        super.init(socket, limits: limits)
        if !socket.noDelay { socket.setNoDelay(true) }
    }

    /// Whether small writes are sent at once. The default is `true`. With `false`, small writes wait until
    /// earlier data has been acknowledged (Nagle's algorithm). Sets `TCP_NODELAY`.
    public var noDelay: Bool {
        get { tcp.noDelay }
        set {
            core.checkThread()
            tcp.setNoDelay(newValue)
        }
    }
}
