public import ByteStreams
public import Futures

/// A socket of the UNIX domain that listens.
public typealias UnixListener = SocketListener<UnixConnection>

extension SocketListener where Connection == UnixConnection {
    /// Listens at `path`, as ``SocketAddress/init(path:)`` reads it.
    ///
    /// A socket that a process has left there, at which nobody listens any more, is replaced; nothing else is. When the
    /// listener is closed, its own file is removed, not that of a successor. `permissions`, like `0o660`, are those of
    /// the file from the start, whatever the umask; `nil` leaves them to that. To connect one has to be allowed to write.
    ///
    /// Fails with ``UVError``: ``UVError/Code/addressInUse`` if somebody listens there; and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if there is a file that is no socket, or an argument makes no sense.
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
