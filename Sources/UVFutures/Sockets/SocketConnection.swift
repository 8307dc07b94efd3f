public import ByteStreams
public import Futures
internal import Glibc

/// A connection over a socket of any kind: a ``ByteStreams/ByteStream`` with addresses.
///
/// Errors of the system are reported as ``UVError`` with both addresses. Each kind of socket has a subclass
/// with the methods for that kind, such as ``TCPConnection``.
public class SocketConnection: ByteStream, Identifiable {
    /// Whether a draining server may half-close this connection when the peer waits for no answer any more. The
    /// default is `true`. After a half-close, the peer reads the end of the stream, and this side can still read.
    ///
    /// The server assumes that the peer waits for no answer when two things are true: the handler waits for
    /// bytes, and the handler has written something since the last bytes came. This assumption is wrong if a
    /// message comes in several parts, and the handler writes a part of its answer before the last part of
    /// the message has come. In that case, set this property to `false`, and close the connection when
    /// ``draining`` completes.
    public final var endsWhenIdle = true
    /// Whether the server of this connection is draining. If so, the handler should finish the current message
    /// and close the connection.
    public final var isDraining: Bool { drains }
    private final var drains = false
    /// What the server still waits for: see `isAwaited`.
    final var duty = Duty.none

    /// Whether the socket belongs to a simulated network.
    final let isSimulated: Bool

    /// The number of this connection. No other connection of this process has the same number.
    public final let id: UInt64
    public final var localAddress: SocketAddress? { socket.localAddress }
    /// The address of the peer. If the server has a ``SocketServer/proxyProtocol``, this is the address of the client that
    /// the proxy has told, if it has. A client of datagrams has none that is this connection's.
    public final var peerAddress: SocketAddress? {
        proxyHeader.flatMap { $0.isDatagram ? nil : $0.source } ?? socket.peerAddress
    }

    /// The address families of the sockets that connections of this class can have.
    class var families: [CInt] { [AF_INET, AF_INET6, AF_UNIX] }

    /// Creates a connection from a connected socket that knows its addresses. The caller has validated `limits`.
    init(_ socket: any SocketTransport, limits: SharedLimits) {
        id = socket.nextNumber()
        isSimulated = !(socket is UVStream)
        super.init(loop: socket.loop, transport: socket, limits: limits)
        socket.serve(self)
    }

    /// Throws an error if `timeout` or `limits` are out of range, or if `loop` has been shut down.
    static func check(_ timeout: Duration, _ limits: StreamLimits, on loop: EventLoop) throws {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { throw FutureError.shutDown }
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
    /// Completes when the server of this connection begins to drain. If the connection ends before that, this
    /// future is cancelled.
    ///
    /// Cancelling this future changes nothing for other code that waits for the future.
    public final var draining: Future<Void> {
        core.checkThread()
        if let drainingPromise { return drainingPromise.future }
        let promise = core.makeSharedPromise()
        drainingPromise = promise
        if isDraining { promise.succeed() } else { closed.whenComplete { _ in promise.cancel() } }
        return promise.future
    }

    /// Throws an error if the connection has ended: the error that broke the connection, or
    /// ``ByteStreams/StreamError/connectionClosed``.
    final func checkConnected() throws {
        core.checkThread()
        if socket.isClosing { throw failure ?? StreamError.connectionClosed }
    }

    /// Half-closes the connection as soon as its peer waits for no answer any more.
    final func beginDraining() {
        guard !isDraining else { return }
        drains = true
        drainingPromise?.succeed()
        if let onDraining {
            self.onDraining = nil
            onDraining()
        }
        onIdle = { [unowned self] in loop.later { [self] in endIfServed() } }
        endIfServed()
    }

    /// Half-closes the connection if it is idle and this side has answered the peer. A peer that has sent
    /// nothing yet gets more time for its first message.
    private final func endIfServed() {
        if wasAnswered { endIfIdle() }
    }

    final func endIfIdle() {
        if endsWhenIdle, isIdle, !socket.hasArrivals { shutdownWrite() }
    }
}

extension SocketConnection: CustomStringConvertible {
    /// The connection in one line, such as `TCPConnection 12 (127.0.0.1:7007 – 127.0.0.1:51234)`.
    public var description: String {
        let ends = [localAddress, peerAddress].map { $0?.description ?? "unknown" }
        return "\(Self.self) \(id) (\(ends[0]) – \(ends[1]))"
    }
}

extension SocketConnection {
    final var socket: any SocketTransport {
        // A checked cast would look the class up, several times for each connection.
        if isSimulated { return transport as! any SocketTransport }
        return unsafe unsafeDowncast(transport, to: UVStream.self)
    }
}
