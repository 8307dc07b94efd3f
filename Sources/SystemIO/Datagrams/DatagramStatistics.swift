internal import Futures

/// Counts of what a datagram socket has done so far.
public struct DatagramStatistics: Hashable, Sendable {
    /// The numbers of datagrams that have come, and of their bytes.
    public var received = 0
    public var receivedBytes = 0
    /// The numbers of datagrams that the system has accepted, and of their bytes.
    public var sent = 0
    public var sentBytes = 0
    /// The number of datagrams that came and were longer than ``DatagramLimits/maxSize``.
    public var truncated = 0
    /// The number of datagrams that the system has dropped, mostly because they came while its buffer was full. Several
    /// datagrams that the system has put together count as one.
    public var dropped = 0
    /// The number of reports by the network that a datagram was not delivered.
    public var unreachable = 0
}

extension DatagramSocket {
    /// Counts of what the socket has done so far. Reads the number of dropped datagrams from the system (`SO_MEMINFO`).
    public final var statistics: DatagramStatistics {
        core.checkThread()
        var statistics = arrivals.statistics
        (statistics.sent, statistics.sentBytes) = (outbound.sent, outbound.sentBytes)
        statistics.dropped = transport.dropped
        return statistics
    }
}

/// The datagrams that have come to a socket.
struct DatagramArrivals {
    var statistics = DatagramStatistics()
    /// Whether datagrams are being delivered. What is sent meanwhile leaves afterwards.
    var areDelivered = false

    mutating func add(_ size: Int) {
        areDelivered = true
        statistics.received += 1
        statistics.receivedBytes += size
    }
}
