internal import UVFutures

/// What addresses mean, as Linux has it. A socket of IPv6 has mapped addresses when it speaks IPv4. The network itself
/// knows only what is not mapped.
extension SimulatedHost {
    private static let loopbackIPv4 = SocketAddress(canonicalHost: "127.0.0.1", port: 0)
    private static let loopbackIPv6 = SocketAddress(canonicalHost: "::1", port: 0)

    func isOwn(_ address: SocketAddress) -> Bool { address.unmapped.isLoopback || has(address.unmapped) }

    /// Whether a socket can be bound to `address`.
    func canBind(to address: SocketAddress) -> Bool { isOwn(address) || address.isWildcard }

    private func has(_ address: SocketAddress) -> Bool { ownAddresses.contains(address.with(port: 0)) }

    /// Returns the host that has `address`. `nil` if there is none.
    func hostWith(_ address: SocketAddress) -> SimulatedHost? {
        isOwn(address) ? self : simulation.hosts.first { $0.has(address) }
    }

    /// Returns the address that a program means by `target`, for a socket that is bound to `bound`.
    func destination(of target: SocketAddress, from bound: SocketAddress?) -> SocketAddress {
        let plain = target.unmapped
        guard plain.isWildcard else { return plain }
        let isIPv6 = plain.isIPv6 && bound?.isMapped != true
        let loopback = isIPv6 ? Self.loopbackIPv6 : Self.loopbackIPv4
        // "::" means 127.0.0.1 for a socket of IPv4, whichever address that has.
        let own = plain.isIPv6 ? nil : source(towards: loopback, from: bound)
        return (own ?? loopback).with(port: UInt16(target.port))
    }

    /// Returns the address from which a socket that is bound to `bound` speaks to `peer`. `nil` if there is no way: because
    /// of `refusal`.
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

    /// Returns why there is no way to `peer`.
    func refusal(towards peer: SocketAddress, from bound: SocketAddress?) -> UVError.Code {
        peer.isIPv6 && bound?.isMapped == true ? .addressFamilyNotSupported : .networkUnreachable
    }

    /// Whether there is an address that both sockets would have.
    static func overlap(_ a: SocketAddress, _ b: SocketAddress) -> Bool {
        let (a, b) = (a.unmapped, b.unmapped)
        let isSame = a.with(port: 0) == b.with(port: 0)
        if isSame || a.isIPv6 && a.isWildcard || b.isIPv6 && b.isWildcard { return true }
        return a.isIPv6 == b.isIPv6 && (a.isWildcard || b.isWildcard)
    }

    /// Whether a socket that has the address `own` by connecting keeps others from `address`. Linux takes one of IPv6 for
    /// one that has all of IPv4.
    static func keeps(_ own: SocketAddress, _ address: SocketAddress) -> Bool {
        overlap(own, address) || own.unmapped.isIPv6 && !address.isIPv6 && address.isWildcard
    }

    /// Returns how well a socket that is bound to `own` fits what is sent to `target`: the address itself comes before all
    /// addresses, and a socket of IPv4 before one of IPv6. `nil` if it does not fit.
    static func fit(_ own: SocketAddress, _ target: SocketAddress) -> Int? {
        guard own.port == target.port, overlap(own, target) else { return nil }
        return (own.isWildcard ? 0 : 2) + (own.isIPv6 ? 0 : 1)
    }
}

extension SocketAddress {
    var isMapped: Bool { unmapped != self }
}
