internal import Glibc

/// A connection in the UNIX domain, to another process on this machine.
///
/// You get a connection from ``connect(path:timeout:limits:on:)``, from ``SocketListener/accept()`` of a
/// ``UnixListener``, or from a ``UnixServer``, which passes it to the handler.
///
/// After an `abort` by this side, the peer usually reads the end of the stream. Over TCP, the peer would get
/// a reset instead. But if the peer has sent bytes that this side has not read, the peer gets
/// ``SystemError/Code/connectionReset``.
public final class UnixConnection: SocketConnection {
    override class var families: [CInt] { [AF_UNIX] }

    /// The identity of a process: its number, its user and its group.
    public struct Credentials: Hashable, Sendable {
        public let processID: Int32
        public let userID: UInt32
        public let groupID: UInt32
    }

    /// The credentials of the peer's process. If the peer connected to this side, they are those of the
    /// connecting process at the time when it connected. If this side connected, they are those of the
    /// listening process at the time when it began to listen. The system guarantees that they were correct at
    /// that time. Reads `SO_PEERCRED`.
    ///
    /// Throws ``ByteStreams/StreamError/connectionClosed`` if this side has closed the connection. If an error
    /// broke the connection, throws that error. Throws ``SystemError`` if the system refuses.
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
            let (process, user, group) = try socket.readPeerCredentials()
            return Credentials(processID: process, userID: user, groupID: group)
        }
    }
}
