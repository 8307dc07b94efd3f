public import Futures
internal import Glibc

/// A socket for datagrams in the UNIX domain, between processes of this machine, such as `/dev/log`.
///
/// These datagrams are not lost. They arrive in order, and only once. While the peer's queue is full, a connected
/// socket queues them, and `send` on one that is not connected fails with ``SystemError/Code/wouldBlock``.
public final class UnixDatagramSocket: DatagramSocket {
    override class var families: [CInt] { [AF_UNIX] }

    override class var maximumSize: Int { 212_960 }

    /// Makes a socket at `path`, to which others can send. `path` has the form that ``SocketAddress/init(path:)``
    /// describes. `permissions`, the file and its removal are as for a ``UnixListener``.
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse`` if a process
    /// has a socket there. Throws ``Futures/FutureError/invalidArgument(_:)`` if there is a file at `path` that is not
    /// a socket, or if an argument is out of range. Calls `bind`.
    public static func bind(
        path: String, permissions: UInt32? = nil, limits: DatagramLimits = DatagramLimits(),
        on loop: EventLoop
    ) throws -> UnixDatagramSocket {
        let system = try check(limits, on: loop)
        let address = try SocketAddress(path: path)
        try address.check(permissions)
        return UnixDatagramSocket(
            try system.makeDatagramSocket(atPath: address, permissions: permissions, peer: nil), limits)
    }

    /// Makes a socket whose only peer is the socket at `path`. With `local`, this end is bound to that path, as by
    /// ``bind(path:permissions:limits:on:)``, so that the peer can answer.
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/notFound`` if there is nothing
    /// at `path`, and with ``SystemError/Code/connectionRefused`` if no process has the socket open any more. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if an argument is out of range. Calls `connect`.
    public static func connect(
        path: String, from local: String? = nil, limits: DatagramLimits = DatagramLimits(),
        on loop: EventLoop
    ) throws -> UnixDatagramSocket {
        let system = try check(limits, on: loop)
        let peer = try SocketAddress(path: path)
        guard let local else {
            return UnixDatagramSocket(
                try system.makeDatagramSocket(local: nil, peer: peer, sharingPort: false), limits)
        }
        return UnixDatagramSocket(
            try system.makeDatagramSocket(
                atPath: try SocketAddress(path: local), permissions: nil, peer: peer), limits)
    }

    override func reachable(_ target: SocketAddress) throws -> SocketAddress {
        try requireArgument(
            target.hasName,
            "\(self) cannot send to \(target), which is not a path in the UNIX domain")
        return target
    }

    override func checkedSource(_ source: SocketAddress) throws -> SocketAddress {
        throw FutureError.invalidArgument(
            "\(self) sends from its own path alone, not from \(source); leave out the argument from:")
    }
}
