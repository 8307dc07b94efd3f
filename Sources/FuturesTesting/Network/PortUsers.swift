internal import Futures
internal import UVFutures

/// The TCP sockets of a host that have a port and do not listen, and the two addresses of each connection.
struct PortUsers {
    private struct User {
        let address: SocketAddress
        /// Whether the program has chosen the address, or the socket was accepted. As libuv asks for, others may then have
        /// the port, too.
        let shares: Bool
        var pair: Pair?
        var remains: Remains?
    }

    private struct Pair: Hashable {
        let local, peer: SocketAddress
    }

    private var users: [Int: [UInt64: User]] = [:]
    private var pairs: [Pair: UInt64] = [:]
    /// The sockets that have been closed, in that order.
    private var closed = Fifo<(port: Int, number: UInt64, remains: Remains)>()

    mutating func add(_ number: UInt64, _ address: SocketAddress, shares: Bool) {
        users[address.port, default: [:]][number] = User(address: address, shares: shares)
    }

    /// Whether an open socket has `port`.
    func isInUse(_ port: Int) -> Bool { users[port]?.values.contains { $0.remains == nil } ?? false }

    /// Whether a socket with a port that the system has chosen keeps others from `address`.
    mutating func keepOthers(from address: SocketAddress, at now: UInt64) -> Bool {
        forget(at: now)
        return users[address.port]?.values.contains {
            if $0.shares || $0.remains?.isGone == true { return false }
            let keeps = $0.remains == nil ? SimulatedHost.keeps : SimulatedHost.overlap
            return keeps($0.address, address)
        } ?? false
    }

    /// Notes the addresses of a connection of the socket. Returns `false` if there is one with the same two.
    mutating func connect(_ number: UInt64, _ local: SocketAddress, to peer: SocketAddress, at now: UInt64)
        -> Bool
    {
        forget(at: now)
        let pair = Pair(local: local, peer: peer)
        if let other = pairs[pair], let user = users[local.port]?[other],
            users[local.port]?[number]?.shares != false,
            !(user.remains?.canBeReplaced(local.isLoopback, at: now) ?? false)
        {
            return false
        }
        let shares = users[local.port]?[number]?.shares ?? true
        pairs[pair] = number
        users[local.port, default: [:]][number] = User(address: local, shares: shares, pair: pair)
        return true
    }

    /// The socket has been closed. Its addresses are in use for as long as `remains` says.
    mutating func close(_ number: UInt64, port: Int, _ remains: Remains?) {
        guard let remains, users[port]?[number] != nil else { return remove(number, port) }
        users[port]![number]!.remains = remains
        closed.append((port, number, remains))
    }

    private mutating func forget(at now: UInt64) {
        while let first = closed.first, first.remains.end <= now {
            remove(first.number, first.port)
            _ = closed.takeFirst()
        }
    }

    private mutating func remove(_ number: UInt64, _ port: Int) {
        guard let user = users[port]?.removeValue(forKey: number) else { return }
        if users[port]!.isEmpty { users[port] = nil }
        if let pair = user.pair, pairs[pair] == number { pairs[pair] = nil }
    }
}

/// What a system keeps of a connection that its program has closed before the peer did.
final class Remains {
    private static let duration: UInt64 = 60_000_000_000
    /// The time after which Linux begins anew with the same addresses, on the loopback interface.
    private static let shortest: UInt64 = 1_000_000_000

    private let start: UInt64
    /// Whether the peer has reset the connection, so that nothing remains.
    var isGone = false

    init(at now: UInt64) { start = now }

    var end: UInt64 { start + Self.duration }

    func canBeReplaced(_ isLoopback: Bool, at now: UInt64) -> Bool {
        isGone || isLoopback && now >= start + Self.shortest
    }
}
