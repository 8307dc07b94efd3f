public import ByteStreams
public import Futures
internal import Glibc

/// A connection of the UNIX domain, to another process of this machine.
///
/// Made by ``connect(path:timeout:limits:on:)``, ``SocketListener/accept()`` of a ``UnixListener``, and ``UnixServer``.
/// There is no reset. After an `abort` the peer finds the end, or ``UVError/Code/connectionReset`` if it had sent bytes
/// that were not read.
public final class UnixConnection: SocketConnection {
    override class var families: [CInt] { [AF_UNIX] }

    /// Takes over `descriptor`, a connected stream socket of the UNIX domain that other code has made.
    ///
    /// The connection owns the descriptor from now on. The descriptor does not block and is not passed on to programs
    /// that this process starts. Descriptors 0 to 2 get another number, and `/dev/null` takes their place.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if it is not such a socket. The caller then keeps the
    /// descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(try UnixSocket.adopt(descriptor, on: loop), limits: .of(limits))
    }

    /// The identity of a process, as the system knows it.
    public struct Credentials: Hashable, Sendable {
        public let processID: Int32
        public let userID: UInt32
        public let groupID: UInt32
    }

    /// The credentials of the process that connected or, on a client, of the one that listens. The system vouches for
    /// them as they were at that time. Asks `SO_PEERCRED`.
    ///
    /// Throws ``ByteStreams/StreamError/connectionClosed`` if this side has closed the connection, what broke it if
    /// something did, and ``UVError``.
    ///
    /// ```swift
    /// let server = try UnixServer.listen(path: "/run/echo.sock", on: loop) { connection -> Future<Void> in
    ///     guard try connection.peerCredentials.userID == getuid() else { return connection.abort() }
    ///     return connection.forEachChunk { chunk in connection.write(chunk) }
    /// }
    /// ```
    public var peerCredentials: Credentials {
        get throws {
            try checkConnected()
            guard let descriptor = socket.descriptor else { throw StreamError.connectionClosed }
            return try UnixSocket.peerCredentials(descriptor)
        }
    }
}
