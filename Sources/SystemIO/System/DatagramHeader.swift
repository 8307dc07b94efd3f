/// What is known of a datagram besides its bytes.
public struct DatagramHeader: Hashable, Sendable {
    /// The address from which the datagram came. Send the answer there. `nil` if the sender is a UNIX socket without
    /// a name, which nobody can answer.
    public var source: SocketAddress?
    /// The address to which the datagram was sent: one of this machine, or the one of a group or a broadcast.
    public var destination: SocketAddress?
    /// The address of this machine at which the datagram came. On a machine with several addresses, pass it as
    /// `from:` to answer from the same address. `nil` if the system does not tell it, as for IPv6 groups.
    public var localAddress: SocketAddress?
    /// The number of the network interface on which the datagram came, or 0 if the system does not tell it. The system
    /// tells it to sockets that are bound to `0.0.0.0` or `::`.
    public var interface: UInt32 = 0
    /// Whether the datagram was longer than ``DatagramLimits/maxSize``, and has lost its end.
    public var isTruncated = false

    public init(source: SocketAddress? = nil, destination: SocketAddress? = nil) {
        self.source = source
        self.destination = destination
        localAddress = destination
    }
}
