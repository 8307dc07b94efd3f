internal import Futures
internal import SystemIO

/// A TCP socket that has a port and does not listen. Also stands for the remains of a socket whose program closed it
/// before the peer did (TIME_WAIT).
final class PortUser {
    private static let duration: UInt64 = 60_000_000_000
    /// The time after which Linux reuses the same pair of addresses on the loopback interface.
    private static let shortest: UInt64 = 1_000_000_000

    fileprivate(set) var address: SocketAddress
    fileprivate var peer: SocketAddress?
    /// Whether the program has chosen the address, or the socket was accepted. Others may then bind to the port, too,
    /// as libuv requests.
    fileprivate let shares: Bool
    fileprivate var closed: UInt64?
    /// Whether the peer has reset the connection since, so that nothing of it remains.
    var isGone = false

    fileprivate init(_ address: SocketAddress, shares: Bool) {
        (self.address, self.shares) = (address, shares)
    }

    fileprivate var end: UInt64 { closed! + Self.duration }

    fileprivate func canBeReplaced(at now: UInt64) -> Bool {
        guard let closed else { return false }
        return isGone || address.isLoopback && now >= closed + Self.shortest
    }

    fileprivate func keepsOthers(from other: SocketAddress) -> Bool {
        if isGone { return false }
        return closed == nil ? SimulatedHost.keeps(address, other) : SimulatedHost.overlap(address, other)
    }
}

/// The TCP sockets of a host that have a port and do not listen.
struct PortUsers {
    private struct Connection: Hashable {
        let local, peer: SocketAddress

        func hash(into hasher: inout Hasher) { hasher.combine(local.port << 16 | peer.port) }
    }

    /// The number of open sockets on each port.
    private var open: [Int: Int] = [:]
    /// The sockets whose port the system has chosen, by their ports.
    private var chosen: [Int: [PortUser]] = [:]
    private var connections: [Connection: PortUser] = [:]
    /// The sockets that have been closed, in the order of closing.
    private var closed = Fifo<PortUser>()

    mutating func add(_ address: SocketAddress, shares: Bool) -> PortUser {
        let user = PortUser(address, shares: shares)
        open[address.port, default: 0] += 1
        if !shares { chosen[address.port, default: []].append(user) }
        return user
    }

    /// Whether an open socket has `port`.
    func isInUse(_ port: Int) -> Bool { open[port] != nil }

    /// Whether a socket with a port that the system has chosen prevents others from using `address`.
    mutating func keepOthers(from address: SocketAddress, at now: UInt64) -> Bool {
        forget(at: now)
        return chosen[address.port]?.contains { $0.keepsOthers(from: address) } ?? false
    }

    /// Records the addresses of the socket's connection. Returns `false` if another connection has the same two
    /// addresses.
    mutating func connect(
        _ user: PortUser, _ local: SocketAddress, to peer: SocketAddress, at now: UInt64
    ) -> Bool {
        forget(at: now)
        let connection = Connection(local: local, peer: peer)
        if user.shares, let other = connections[connection], !other.canBeReplaced(at: now) { return false }
        (user.address, user.peer) = (local, peer)
        connections[connection] = user
        return true
    }

    /// Records that the socket has been closed. Its addresses may stay in use for a while.
    mutating func close(_ user: PortUser, remains: Bool, at now: UInt64) {
        let port = user.address.port
        if open[port]! > 1 { open[port]! -= 1 } else { open[port] = nil }
        guard remains else { return remove(user) }
        user.closed = now
        closed.append(user)
    }

    private mutating func forget(at now: UInt64) {
        while let first = closed.first, first.end <= now {
            remove(first)
            _ = closed.takeFirst()
        }
    }

    private mutating func remove(_ user: PortUser) {
        let port = user.address.port
        if !user.shares {
            chosen[port]!.removeAll { $0 === user }
            if chosen[port]!.isEmpty { chosen[port] = nil }
        }
        guard let peer = user.peer else { return }
        let connection = Connection(local: user.address, peer: peer)
        if connections[connection] === user { connections[connection] = nil }
    }
}
