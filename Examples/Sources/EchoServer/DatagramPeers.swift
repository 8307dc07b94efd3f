import UVFutures

/// Which datagrams are sent back. Whoever forges the address of another echo server would have both answer each other for ever.
struct DatagramPeers {
    private var paces: [SocketAddress: FutureTokenBucket] = [:]

    /// Returns whether a datagram that came from `source` to `port` gets an answer.
    ///
    /// Servers of the system have low ports, and servers of this kind the same one: inetd leaves both without an answer. Other
    /// servers that answer are found by their pace, and hear nothing when they have used it up. So that ends, too.
    mutating func answers(_ source: SocketAddress, to port: Int, on loop: EventLoop) -> Bool {
        guard source.port >= 1024, source.port != port else { return false }
        if paces.count == Self.most { paces.removeAll() }
        let pace = paces[source] ?? FutureTokenBucket(rate: 10, burst: 1000, on: loop)
        paces[source] = pace
        return pace.tryTake()
    }

    private static let most = 1000
}
