public import ByteStreams
public import Futures

/// A listening socket of the UNIX domain.
public typealias UnixListener = SocketListener<UnixConnection>

extension SocketListener where Connection == UnixConnection {
    /// Listens at `path`, which is written as for ``SocketAddress/init(path:)``.
    ///
    /// If there is a socket at `path`, and no process listens at that socket any more, the new socket
    /// replaces it. Other files are never replaced. When the listener is closed, it removes the file of its
    /// socket. If another socket has replaced that file, the new file stays.
    ///
    /// From the start, the file has `permissions`, such as `0o660`, whatever the umask is. With `nil`, the umask
    /// decides. A process needs permission to write to the file in order to connect.
    ///
    /// Fails with ``UVError`` if the system refuses, for example with ``UVError/Code/addressInUse`` if a process
    /// listens at `path`. Fails with ``Futures/FutureError/invalidArgument(_:)`` if there is a file at `path` that is
    /// not a socket, or if an argument makes no sense.
    /// Binds `bind` and `listen`.
    public convenience init(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(
            try .listening(path: path, permissions: permissions, backlog: backlog, on: loop), limits: limits)
    }
}

extension UVListener {
    /// Returns a socket that listens at `path`. Throws an error if an argument makes no sense.
    static func listening(
        path: String, permissions: UInt32?, backlog: Int, on loop: EventLoop
    ) throws -> UVListener {
        let backlog = try checked(backlog, on: loop)
        let address = try SocketAddress(path: path)
        if let permissions {
            try requireArgument(
                permissions <= 0o777,
                "permissions of 0o\(String(permissions, radix: 8)) make no sense; give 0o000 to 0o777")
            try requireArgument(
                !address.isAbstract,
                "the abstract name \(path) can have no permissions: everybody can connect; leave them out, and ask "
                    + "for peerCredentials")
        }
        return try UnixSocket.listen(address, permissions: permissions, backlog: backlog, on: loop)
    }
}
