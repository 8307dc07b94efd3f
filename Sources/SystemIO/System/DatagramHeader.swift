/// The metadata of a datagram: its addresses, its network interface, and whether it was truncated.
public struct DatagramHeader: Hashable, Sendable {
    /// The address from which the datagram came. Send the answer there. `nil` if the sender is a UNIX socket without
    /// a name, which nobody can answer.
    public var source: SocketAddress?
    /// The address to which the datagram was sent: one of this machine, a multicast address, or a broadcast address.
    public var destination: SocketAddress?
    /// The address of this machine at which the datagram arrived. On a machine with several addresses, pass it as
    /// `from:` to answer from the same address. `nil` if the system does not report it, as for IPv6 multicast.
    public var localAddress: SocketAddress?
    /// The number of the network interface on which the datagram arrived, or 0 if the system does not report it. The
    /// system reports it to sockets that are bound to `0.0.0.0` or `::`.
    public var interface: UInt32 = 0
    /// Whether the datagram was longer than ``DatagramLimits/maxSize``, so that its end is missing.
    public var isTruncated = false

    public init(source: SocketAddress? = nil, destination: SocketAddress? = nil) {
        self.source = source
        self.destination = destination
        localAddress = destination
    }
}
