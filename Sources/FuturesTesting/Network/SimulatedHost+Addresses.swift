internal import SystemIO

/// The meaning of addresses, as in Linux. An IPv6 socket has mapped addresses when it speaks IPv4. The network itself
/// uses only unmapped addresses.
extension SimulatedHost {
    private static let loopbackIPv4 = SocketAddress(canonicalHost: "127.0.0.1", port: 0)
    private static let loopbackIPv6 = SocketAddress(canonicalHost: "::1", port: 0)

    func isOwn(_ address: SocketAddress) -> Bool { address.unmapped.isLoopback || has(address.unmapped) }

    /// Whether a socket can be bound to `address`.
    func canBind(to address: SocketAddress) -> Bool { isOwn(address) || address.isWildcard }

    private func has(_ address: SocketAddress) -> Bool { ownAddresses.contains(address.with(port: 0)) }

    /// Returns the host that has `address`. `nil` if no host has it.
    func hostWith(_ address: SocketAddress) -> SimulatedHost? {
        isOwn(address) ? self : simulation.hosts.first { $0.has(address) }
    }

    /// Returns the address that `target` stands for, for a socket that is bound to `bound`.
    func destination(of target: SocketAddress, from bound: SocketAddress?) -> SocketAddress {
        let plain = target.unmapped
        guard plain.isWildcard else { return plain }
        let isIPv6 = plain.isIPv6 && bound?.isMapped != true
        let loopback = isIPv6 ? Self.loopbackIPv6 : Self.loopbackIPv4
        // For an IPv4 socket, "::" means 127.0.0.1, whatever address the socket has.
        let own = plain.isIPv6 ? nil : source(towards: loopback, from: bound)
        return (own ?? loopback).with(port: UInt16(target.port))
    }

    /// Returns the source address towards `peer` of a socket that is bound to `bound`. `nil` if there is no route:
    /// `refusal` returns the reason.
    func source(towards peer: SocketAddress, from bound: SocketAddress?) -> SocketAddress? {
        let port = UInt16(bound?.port ?? 0)
        if let bound, bound.isMapped ? peer.isIPv6 : !bound.isWildcard && bound.isIPv6 != peer.isIPv6 {
            return nil
        }
        if let bound, !bound.isWildcard { return bound.unmapped }
        if peer.isLoopback { return (peer.isIPv6 ? Self.loopbackIPv6 : Self.loopbackIPv4).with(port: port) }
        if has(peer) { return peer.with(port: port) }
        return ownAddresses.first { $0.isIPv6 == peer.isIPv6 }?.with(port: port)
    }

    /// Returns the reason for a missing route to `peer`.
    func refusal(towards peer: SocketAddress, from bound: SocketAddress?) -> SystemError.Code {
        peer.isIPv6 && bound?.isMapped == true ? .addressFamilyNotSupported : .networkUnreachable
    }

    /// Whether the two sockets would share an address.
    static func overlap(_ a: SocketAddress, _ b: SocketAddress) -> Bool {
        let (a, b) = (a.unmapped, b.unmapped)
        let isSame = a.with(port: 0) == b.with(port: 0)
        if isSame || a.isIPv6 && a.isWildcard || b.isIPv6 && b.isWildcard { return true }
        return a.isIPv6 == b.isIPv6 && (a.isWildcard || b.isWildcard)
    }

    /// Whether a socket that got the address `own` by connecting prevents others from using `address`. Linux treats an
    /// IPv6 socket as if it used all IPv4 addresses.
    static func keeps(_ own: SocketAddress, _ address: SocketAddress) -> Bool {
        overlap(own, address) || own.unmapped.isIPv6 && !address.isIPv6 && address.isWildcard
    }

    /// Returns how well a socket that is bound to `own` matches `target`. An exact address takes precedence over the
    /// wildcard address, and an IPv4 socket over an IPv6 socket. `nil` if it does not match.
    static func fit(_ own: SocketAddress, _ target: SocketAddress) -> Int? {
        guard own.port == target.port, overlap(own, target) else { return nil }
        return (own.isWildcard ? 0 : 2) + (own.isIPv6 ? 0 : 1)
    }
}

extension SocketAddress {
    var isMapped: Bool { unmapped != self }
}
