internal import Futures

/// Counts of what a server has done so far, and of the connections that it has now.
public struct ServerStatistics: Hashable, Sendable {
    /// The number of connections that the server has accepted so far.
    public var accepted = 0
    /// The number of open connections. Connections that linger (see ``ByteStreams/ByteStream/close(within:)``) do
    /// not count.
    public var active = 0
    /// The number of connections that linger. Such a connection has sent everything, and waits until its peer
    /// has finished sending: see ``ByteStreams/ByteStream/close(within:)``. A connection that lingers does
    /// not count for ``AcceptLimits/maxConnections``.
    public var lingering = 0
    /// The number of open connections for which a draining server waits. This number is zero until the server
    /// begins to drain (``SocketServer/drain(within:)``). After that, it is equal to ``active``.
    public var draining = 0
    /// The number of times that the server stopped accepting because ``AcceptLimits/maxConnections``
    /// connections were open.
    public var pauses = 0
    /// The number of times that a connection could not be accepted, mostly for lack of descriptors or memory.
    /// Such a connection waits in the system, and the server tries again. So one connection may count several
    /// times.
    public var shortages = 0
    /// The number of the server's sockets that have stopped listening so far, for example because other code
    /// shut them down. The server has closed these sockets.
    public var shed = 0
    /// The number of bytes received so far, on all connections.
    public var bytesReceived = 0
    /// The number of bytes sent so far, on all connections.
    public var bytesSent = 0
    /// The number of connections that have ended so far, for each reason.
    public var closes: [CloseReason: Int] = [:]

    /// Adds the bytes of `connection`.
    mutating func count(bytesOf connection: SocketConnection) {
        bytesReceived += connection.bytesReceived
        bytesSent += connection.bytesSent
    }
}

extension SocketServer {
    /// Counts of what the server has done so far, and of the connections that it has now. The time to read this
    /// property grows with the number of open connections.
    public var statistics: ServerStatistics {
        core.checkThread()
        var statistics = counters
        if closedInOrder > 0 { statistics.closes[.closed] = closedInOrder }
        statistics.active = activeConnections
        statistics.draining = isDraining ? activeConnections : 0
        statistics.shortages = shortages.count
        for connection in connections.all { statistics.count(bytesOf: connection) }
        return statistics
    }
}

extension ServerStatistics: CustomStringConvertible {
    /// The statistics in one line.
    public var description: String {
        let reasons = closes.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        return
            "\(accepted) connections accepted, \(shed) shed, \(active) active, \(draining) draining, \(lingering) lingering; "
            + "\(bytesReceived) bytes received, \(bytesSent) sent; closed: \(reasons.isEmpty ? "none" : reasons)"
    }
}
