public import ByteStreams
public import Futures

/// A listening socket of the UNIX domain.
public typealias UnixListener = SocketListener<UnixConnection>

extension SocketListener where Connection == UnixConnection {
    /// Creates a listener at `path`. `path` has the form that ``SocketAddress/init(path:)`` describes.
    ///
    /// If there is a socket at `path`, and no process listens at that socket any more, the new socket replaces
    /// the old socket. The listener never replaces other files. When the listener is closed, it removes the file
    /// of its socket. But if another socket has replaced that file, the listener does not remove the new file.
    ///
    /// From the start, the file has `permissions`, such as `0o660`. The umask has no effect on them. If
    /// `permissions` is `nil`, the umask decides. A process can connect only if it has the permission to write to
    /// the file.
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse`` if a process
    /// listens at `path`. Throws ``Futures/FutureError/invalidArgument(_:)`` if there is a file at `path` that is
    /// not a socket, or if an argument is out of range.
    /// Calls the system's `bind` and `listen`.
    public convenience init(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(
            try loop.listeningSocket(path: path, permissions: permissions, backlog: backlog), limits: limits)
    }
}

extension EventLoop {
    /// Returns a socket that listens at `path`. Throws an error if an argument is out of range.
    func listeningSocket(
        path: String, permissions: UInt32?, backlog: Int
    ) throws -> any ListenerSocket {
        let (system, backlog) = try system(forBacklog: backlog)
        let address = try SocketAddress(path: path)
        try address.check(permissions)
        return try system.listen(atPath: address, permissions: permissions, backlog: backlog)
    }
}
