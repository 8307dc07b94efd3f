public import ByteStreams
public import Futures

/// A listening socket of the UNIX domain.
public typealias UnixListener = SocketListener<UnixConnection>

extension SocketListener where Connection == UnixConnection {
    /// Listens at `path`, as ``SocketAddress/init(path:)`` reads it.
    ///
    /// Replaces a socket that a process has left there, if no process listens at it any more. Replaces nothing else.
    /// When the listener is closed, it removes its own file, but not a successor's. The file has `permissions`, like
    /// `0o660`, from the start, whatever the umask; `nil` leaves them to the umask. A process needs permission to write
    /// to connect.
    ///
    /// Fails with ``UVError``: ``UVError/Code/addressInUse`` if a process listens there. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if a file there is not a socket, or an argument makes no sense.
    /// Binds `bind` and `listen`.
    public convenience init(
        path: String, permissions: UInt32? = nil, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(
            try UVListener.listening(path: path, permissions: permissions, backlog: backlog, on: loop),
            limits: limits)
    }
}

extension UVListener {
    static func listening(
        path: String, permissions: UInt32?, backlog: Int, on loop: EventLoop
    ) throws -> UVListener {
        let backlog = try checked(backlog, on: loop)
        let address = try SocketAddress(path: path)
        if let permissions {
            guard permissions <= 0o777 else {
                throw FutureError.invalidArgument(
                    "permissions of 0o\(String(permissions, radix: 8)) make no sense; give 0o000 to 0o777")
            }
            guard !address.isAbstract else {
                throw FutureError.invalidArgument(
                    "the abstract name \(path) can have no permissions: everybody can connect; leave them out, and ask "
                        + "for peerCredentials")
            }
        }
        return try UnixSocket.listen(address, permissions: permissions, backlog: backlog, on: loop)
    }
}
