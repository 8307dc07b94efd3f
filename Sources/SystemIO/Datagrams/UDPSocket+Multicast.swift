internal import Futures
internal import Glibc

extension UDPSocket {
    /// Joins the multicast group with the address `group`: the socket also gets datagrams to that group on its port.
    ///
    /// `interface` is the name of a network interface, such as `eth0`, or its number. With `nil`, the system chooses by
    /// its routes. With `source`, the socket gets only what comes from that address. A socket gets nothing of groups
    /// that it has not joined, even if another socket of this machine has. Bind the socket to `0.0.0.0` or `::`, or to
    /// the address of the group.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `group` is not the address of a group, if the addresses do
    /// not suit the socket, or if there is no such interface. Throws ``SystemError`` if the system refuses, for example
    /// if the socket is in the group already. Sets `MCAST_JOIN_GROUP` or `MCAST_JOIN_SOURCE_GROUP`.
    public func join(_ group: String, interface: String? = nil, source: String? = nil) throws {
        try change(group, interface, source, joins: true)
    }

    /// Leaves a group that the socket has joined with the same arguments. Throws the errors of
    /// ``join(_:interface:source:)``, for example if the socket is not in the group.
    public func leave(_ group: String, interface: String? = nil, source: String? = nil) throws {
        try change(group, interface, source, joins: false)
    }

    private func change(_ group: String, _ interface: String?, _ source: String?, joins: Bool) throws {
        core.checkThread()
        let address = try ofFamily(SocketAddress(host: group, port: 0))
        try requireArgument(
            address.isMulticast,
            "\(group) is not the address of a group; give one of 224.0.0.0/4 or ff00::/8")
        let from = try source.map { try ofFamily(SocketAddress(host: $0, port: 0)) }
        try transport.changeMembership(
            of: address, interface: try interface.map(UDPSocket.number) ?? 0, source: from, joins: joins)
    }

    private func ofFamily(_ address: SocketAddress) throws -> SocketAddress {
        try requireArgument(
            address.isIPv6 == localAddress.isIPv6,
            "\(self) cannot use \(address.host), which is of another family")
        return address
    }

    private static func number(of interface: String) throws -> UInt32 {
        // A zero byte would cut the name off.
        let number = interface.utf8.contains(0) ? 0 : unsafe if_nametoindex(interface)
        if number != 0 { return number }
        guard let number = UInt32(interface), number > 0 else {
            throw FutureError.invalidArgument(
                "there is no network interface \(interface.debugDescription); give the name or the number of one"
            )
        }
        return number
    }

    /// Sets the interface on which datagrams to groups leave: its name or its number. Throws the errors of
    /// ``join(_:interface:source:)``. Sets `IP_MULTICAST_IF` or `IPV6_MULTICAST_IF`.
    public func setMulticastInterface(_ interface: String) throws {
        core.checkThread()
        try transport.set(.multicastInterface, to: Int(try UDPSocket.number(of: interface)))
    }

    /// Sets whether sockets of this machine get what the socket sends to a group. The default is `true`. Throws
    /// ``SystemError`` if the socket has been closed. Sets `IP_MULTICAST_LOOP` or `IPV6_MULTICAST_LOOP`.
    public func setMulticastLoopback(_ isOn: Bool) throws {
        core.checkThread()
        try transport.set(.multicastLoopback, to: isOn ? 1 : 0)
    }

    /// Sets the number of routers that datagrams to groups may pass, plus one: 1, the default, keeps them in the local
    /// network, and 0 on this machine. Throws ``Futures/FutureError/invalidArgument(_:)`` if `count` is not from 0 to
    /// 255, and ``SystemError`` if the socket has been closed. Sets `IP_MULTICAST_TTL` or `IPV6_MULTICAST_HOPS`.
    public func setMulticastTimeToLive(_ count: Int) throws {
        try set(.multicastTimeToLive, to: count, in: 0...255, "a time to live of \(count)")
    }

    /// Sets the number of routers that datagrams may pass, plus one. Throws ``Futures/FutureError/invalidArgument(_:)``
    /// unless `count` is 1 to 255, and ``SystemError`` if the socket has been closed. Sets `IP_TTL` or
    /// `IPV6_UNICAST_HOPS`.
    public func setTimeToLive(_ count: Int) throws {
        try set(.timeToLive, to: count, in: 1...255, "a time to live of \(count)")
    }

    /// Sets whether the socket may send to broadcast addresses. With `false`, the default, such a datagram fails with
    /// ``SystemError/Code/permissionDenied``. Throws ``SystemError`` if the socket has been closed. Sets
    /// `SO_BROADCAST`.
    public func setBroadcast(_ isOn: Bool) throws {
        core.checkThread()
        try transport.set(.broadcast, to: isOn ? 1 : 0)
    }
}
