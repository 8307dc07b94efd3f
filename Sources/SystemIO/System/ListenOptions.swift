public import ByteStreams
internal import Futures

/// The options of a socket that listens, and the limits of its connections.
public struct ListenOptions: Hashable, Sendable {
    /// The maximum number of connections that wait in the system to be accepted. The system refuses further ones, or
    /// makes them try again. The system may have a limit of its own (`net.core.somaxconn`).
    public var backlog = 1024
    /// Whether sockets of the same user, in this process or in others, may share the port if all of them set this. The
    /// system distributes the connections among them by the addresses of the peers. Sets `SO_REUSEPORT`. For TCP.
    public var sharingPort = false
    /// The name of the only network interface from which to accept connections, such as `eth0`. `nil` stands for all.
    /// Connections from the same machine come over `lo`. Sets `SO_BINDTODEVICE`. For TCP.
    ///
    /// If no such interface exists, listening fails with ``SystemError`` and the code of `ENODEV`. A simulated host has
    /// `lo` and `eth0`.
    public var device: String?
    /// The permissions of the file of a UNIX socket, such as `0o660`, which the umask does not change. A process can
    /// connect only if it may write to the file. `nil` leaves the permissions to the umask.
    public var permissions: UInt32?
    /// The limits of the connections that are accepted.
    public var limits = StreamLimits()

    public init(
        backlog: Int = 1024, sharingPort: Bool = false, device: String? = nil, permissions: UInt32? = nil,
        limits: StreamLimits = StreamLimits()
    ) {
        self.backlog = backlog
        self.sharingPort = sharingPort
        self.device = device
        self.permissions = permissions
        self.limits = limits
    }

    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if a value is out of range, or does not apply to this kind of
    /// socket.
    func validate(forUnix isUnix: Bool) throws {
        try requireArgument(
            (0...Int(CInt.max)).contains(backlog),
            "a backlog of \(backlog) is out of range; give 0 to \(CInt.max)")
        if isUnix {
            try requireArgument(
                !sharingPort, "sharingPort is for TCP: a socket of the UNIX domain has no port")
            try requireArgument(
                device == nil, "device is for TCP: a socket of the UNIX domain has no interface")
        } else {
            try requireArgument(
                permissions == nil, "permissions are for the UNIX domain: a TCP socket has no file")
        }
        if let device {
            try requireArgument(
                (1...15).contains(device.utf8.count) && !device.utf8.contains(0),
                "the name of an interface must have 1 to 15 bytes, none of them zero, not '\(device)'")
        }
        try limits.validate()
    }
}
