public import ByteStreams
internal import Futures

/// The options of a socket that listens, and the limits of its connections.
public struct ListenOptions: Hashable, Sendable {
    /// The most connections that wait in the system to be accepted. Further ones are refused or have to try again, as the
    /// system decides. The system may have a limit of its own (`net.core.somaxconn`).
    public var backlog = 1024
    /// Whether other sockets of the same user may listen on the same port, in this process or in others, if they also ask for
    /// that. The system distributes the connections over them by the addresses of the peers. Sets `SO_REUSEPORT`. For TCP.
    public var sharingPort = false
    /// The name of the only network interface over which connections come, such as `eth0`. `nil` stands for all. Connections
    /// from the same machine come over `lo`. Sets `SO_BINDTODEVICE`. For TCP.
    ///
    /// If there is no such interface, listening fails with ``SystemError``, whose code is that of `ENODEV`. A simulated host
    /// has `lo` and `eth0`.
    public var device: String?
    /// The permissions of the file of a UNIX socket, such as `0o660`, which the umask does not change. A process can connect
    /// only if it has the permission to write to the file. `nil` leaves them to the umask.
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

    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if a value is out of range, or is for sockets of another kind.
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
