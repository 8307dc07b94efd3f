public import Futures
internal import Glibc

/// A socket for UDP datagrams.
///
/// ```swift
/// let socket = try UDPSocket.bind(host: "127.0.0.1", port: 7007, on: loop)
/// let echo = socket.forEachDatagram { bytes, header in socket.send(bytes, to: header.source) }
/// ```
public final class UDPSocket: DatagramSocket {
    override class var families: [CInt] { [AF_INET, AF_INET6] }

    /// The address of this end. If the requested port was 0, the address has the port that the system picked.
    public override var localAddress: SocketAddress { local! }

    /// Makes a socket on `port` of `host`, which is a numeric address or `localhost`. For `localhost`, the socket uses
    /// 127.0.0.1, or ::1 if this machine does not have 127.0.0.1.
    ///
    /// If `port` is 0, the system picks a port. A socket on `::` also takes datagrams of IPv4, and sends to IPv4
    /// addresses. Its peers of IPv4 then appear as `::ffff:` and their address. With `sharingPort: true`, several
    /// sockets of the same user may have the same port, in several processes or loops: the system distributes the
    /// datagrams over them by the addresses of the peers, and each gets all datagrams to a group (`SO_REUSEPORT`).
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` is a name other than `localhost`, or if an argument is out
    /// of range. Calls `bind`.
    public static func bind(
        host: String, port: Int, sharingPort: Bool = false, limits: DatagramLimits = DatagramLimits(),
        on loop: EventLoop
    ) throws -> UDPSocket {
        let system = try check(limits, on: loop)
        var addresses = try SocketAddress.all(host: host, port: port)[...]
        while true {
            let address = addresses.removeFirst()
            do throws(SystemError) {
                return UDPSocket(
                    try system.makeDatagramSocket(local: address, peer: nil, sharingPort: sharingPort),
                    limits)
            } catch {
                guard error.code == .addressNotAvailable, !addresses.isEmpty else { throw error }
            }
        }
    }

    /// Makes a socket whose only peer is `peer`. The socket takes datagrams from no other address, and needs no `to:`.
    ///
    /// Without `local`, the system chooses the address and the port of this end. Sends nothing: only an answer shows
    /// whether the peer is there. Throws ``SystemError`` if the system refuses, for example with
    /// ``SystemError/Code/networkUnreachable``. Throws ``Futures/FutureError/invalidArgument(_:)`` if an address is of
    /// the UNIX domain, or the two are of different families. Calls `connect`.
    public static func connect(
        to peer: SocketAddress, from local: SocketAddress? = nil, limits: DatagramLimits = DatagramLimits(),
        on loop: EventLoop
    ) throws -> UDPSocket {
        let system = try check(limits, on: loop)
        for address in [peer, local].compactMap({ $0 }) {
            try requireArgument(
                !address.isUnix, "\(address) is not a UDP address; use UnixDatagramSocket for it")
        }
        try requireArgument(peer.port > 0, "cannot send to port 0; give a port from 1 to 65535")
        if let local {
            try requireArgument(
                local.isIPv6 == peer.isIPv6,
                "nothing can be sent from \(local) to \(peer): the addresses are of different families")
        }
        return UDPSocket(
            try system.makeDatagramSocket(local: local, peer: peer, sharingPort: false), limits)
    }

    /// Looks up `host`, and makes a socket whose only peer is its first address that can be used.
    ///
    /// `resolver` answers for the name; `nil` stands for the ``Futures/EventLoop/resolver`` of the loop. Fails with
    /// ``ResolutionError`` if there is no address within `timeout`, with ``SystemError`` if the system refuses all of
    /// them, and with ``Futures/FutureError/invalidArgument(_:)`` if an argument is out of range.
    public static func connect(
        host: String, port: Int, timeout: Duration = .seconds(10), resolver: (any NameResolver)? = nil,
        limits: DatagramLimits = DatagramLimits(), on loop: EventLoop
    ) -> Future<UDPSocket> {
        return loop.attempt {
            _ = try check(limits, on: loop)
            try requireArgument(
                timeout >= .zero, "a time limit of \(timeout) is negative; give zero or more")
            try TCPConnection.checkTarget(host: host, port: port)
            return loop.addresses(of: host, port: port, resolver: resolver)
                .limited(to: timeout, lookingUp: host)
                .map { addresses in
                    for address in addresses.dropLast() {
                        if let socket = try? connect(to: address, limits: limits, on: loop) { return socket }
                    }
                    return try connect(to: addresses.last!, limits: limits, on: loop)
                }
        }
    }

    // MARK: Addresses

    override func reachable(_ target: SocketAddress) throws -> SocketAddress {
        try requireArgument(
            !target.isUnix, "\(self) cannot send to \(target), which is of the UNIX domain")
        try requireArgument(
            target.port > 0, "cannot send to port 0 of \(target.host); give a port from 1 to 65535")
        return try suited(target, "send to")
    }

    override func checkedSource(_ source: SocketAddress) throws -> SocketAddress {
        try requireArgument(
            !source.isUnix && !source.isMulticast,
            "\(self) cannot send from \(source); give an address of this machine")
        return try suited(source, "send from")
    }

    /// Returns an address in the family of the socket.
    private func suited(_ address: SocketAddress, _ what: String) throws -> SocketAddress {
        if address.isIPv6 == localAddress.isIPv6 { return address }
        try requireArgument(
            localAddress.isIPv6 && localAddress.isWildcard,
            "\(self) cannot \(what) \(address), which is of another family; use a socket on "
                + (address.isIPv6 ? "an IPv6 address" : "an IPv4 address, or on ::"))
        return address.mapped
    }
}
