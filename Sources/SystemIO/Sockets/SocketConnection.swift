public import ByteStreams
internal import CFuturesSystem
internal import Futures
internal import Glibc

/// A connection over a socket of any kind: a ``ByteStreams/ByteStream`` with addresses.
///
/// Errors of the system are reported as ``SystemError`` with both addresses. Each kind of socket has a subclass
/// with the methods for that kind, such as ``TCPConnection``.
public class SocketConnection: ByteStream, Identifiable {
    /// The duty of the peer that the server still waits for: see `isAwaited`.
    final var duty = Duty.none

    final let socket: any SocketTransport

    /// The number of this connection. No other connection of this process has the same number.
    public final let id: UInt64
    public final var localAddress: SocketAddress? { socket.localAddress }
    /// The address of the peer. If the server has a ``SocketServer/proxyProtocol``, this is the client's address in the
    /// proxy's header, or the proxy's own if the header has none, or is for a client that sends datagrams.
    public final var peerAddress: SocketAddress? {
        proxyHeader.flatMap { $0.isDatagram ? nil : $0.source } ?? socket.peerAddress
    }

    /// The address families of the sockets that connections of this class can have.
    class var families: [CInt] { [AF_INET, AF_INET6, AF_UNIX] }

    /// Creates a connection from a connected socket that knows its addresses. The caller has validated `limits`.
    init(_ socket: any SocketTransport, limits: SharedLimits) {
        id = socket.nextNumber()
        self.socket = socket
        super.init(loop: socket.loop, transport: socket, limits: limits)
        socket.serve(self)
    }

    /// Throws an error if `timeout` or `limits` are out of range, or if `loop` has been shut down.
    static func check(_ timeout: Duration, _ limits: StreamLimits, on loop: EventLoop) throws {
        try loop.core.checkRuns()
        try requireArgument(timeout >= .zero, "a time limit of \(timeout) is negative; give zero or more")
        try limits.validate()
    }

    deinit {
        if isOpen { core.checkThread() }
        socket.serve(nil)
        if isOpen, core.isObserved {
            core.tell(.closed(description, failure: isReadToEnd ? nil : StreamError.droppedUnclosed))
        }
    }
}

extension SocketConnection {
    /// Throws an error if the connection has ended: the error that broke the connection, or
    /// ``ByteStreams/StreamError/connectionClosed``.
    final func checkConnected() throws {
        core.checkThread()
        if socket.isClosing { throw failure ?? StreamError.connectionClosed }
    }
}

extension SocketConnection: CustomStringConvertible {
    /// The connection in one line, such as `TCPConnection 12 (127.0.0.1:7007 – 127.0.0.1:51234)`.
    public var description: String {
        "\(Self.self) \(id) (\(SocketAddress.ends(localAddress, peerAddress)))"
    }
}
