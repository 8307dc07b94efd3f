public import ByteStreams
public import Futures
internal import Glibc

/// A connection of the UNIX domain: with another process of this machine.
///
/// Made by ``connect(path:timeout:limits:on:)``, ``SocketListener/accept()`` of a ``UnixListener``, and ``UnixServer``.
/// There is no reset: after an `abort` the peer finds the end, or, if it had sent what was not read,
/// ``UVError/Code/connectionReset``.
public final class UnixConnection: SocketConnection {
    override class var families: [CInt] { [AF_UNIX] }

    /// Takes over `descriptor`, a connected stream socket of the UNIX domain that somebody else has made.
    ///
    /// From now on it belongs to the connection, does not block, and is not passed on to programs that this process
    /// starts. Descriptors 0 to 2 get another number, and `/dev/null` takes their place.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if it is none; the descriptor stays the caller's then.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(try UnixSocket.adopt(descriptor, on: loop), limits: .of(limits))
    }

    /// Who a process is to the system.
    public struct Credentials: Hashable, Sendable {
        public let processID: Int32
        public let userID: UInt32
        public let groupID: UInt32
    }

    /// Who connected, or, to a client, who listens; the system vouches for it, as it was at that time. Asks
    /// `SO_PEERCRED`.
    ///
    /// Throws ``ByteStreams/StreamError/connectionClosed`` if this side has closed the connection, what broke it if
    /// something did, and ``UVError``.
    public var peerCredentials: Credentials {
        get throws {
            try checkConnected()
            guard let descriptor = socket.descriptor else { throw StreamError.connectionClosed }
            return try UnixSocket.peerCredentials(descriptor)
        }
    }
}
