public import ByteStreams
internal import Futures
internal import Synchronization

/// A TCP connection: a ``ByteStreams/ByteStream`` with addresses.
///
/// Made by ``connect(host:port:timeout:limits:on:)``, ``TCPListener/accept()`` and ``TCPServer``.
/// Errors of the system are ``UVError``s with both addresses. Small writes are sent at once (``noDelay``).
public final class TCPConnection: ByteStream, Identifiable {
    /// Unique in the process.
    public let id: UInt64
    public let localAddress: SocketAddress?
    public let peerAddress: SocketAddress?
    private let socket: UVTCP

    private static let lastID = Atomic<UInt64>(0)

    /// `limits` have been validated.
    init(_ socket: UVTCP, limits: StreamLimits) {
        self.socket = socket
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        localAddress = socket.localAddress
        peerAddress = socket.peerAddress
        super.init(loop: socket.loop, transport: socket, limits: limits)
        socket.serve(self)
        socket.setNoDelay(true)
    }

    deinit {
        socket.serve(nil)
    }

    /// Whether small writes are sent at once, instead of waiting until what went before is acknowledged
    /// (Nagle). On, unless changed. Sets `TCP_NODELAY`.
    public var noDelay = true {
        didSet {
            loop.checkThread()
            socket.setNoDelay(noDelay)
        }
    }

    /// Asks the system to probe a peer that has been silent for `idle`, and to break the connection if it has
    /// gone; `nil`, as it is at first, never asks. Whole seconds, rounded up.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `idle` is not positive or longer than a day,
    /// with ``ByteStreams/StreamError/connectionClosed`` if the connection is gone, and with ``UVError`` if
    /// the system refuses.
    /// Binds [`uv_tcp_keepalive`](https://docs.libuv.org/en/v1.x/tcp.html).
    public func setKeepAlive(after idle: Duration?) throws {
        loop.checkThread()
        guard !socket.isClosing else { throw StreamError.connectionClosed }
        guard let idle else { return try socket.setKeepAlive(seconds: nil) }
        guard idle > .zero, idle <= .seconds(86_400) else {
            throw FutureError.invalidArgument(
                "a keep-alive of \(idle) makes no sense; give more than zero, up to a day")
        }
        let (seconds, rest) = idle.components
        try socket.setKeepAlive(seconds: CUnsignedInt(seconds + (rest > 0 ? 1 : 0)))
    }
}

extension TCPConnection: CustomStringConvertible {
    /// Like `TCPConnection 12 (127.0.0.1:7007 – 127.0.0.1:51234)`.
    public var description: String {
        let ends = [localAddress, peerAddress].map { $0?.description ?? "unknown" }
        return "TCPConnection \(id) (\(ends[0]) – \(ends[1]))"
    }
}
