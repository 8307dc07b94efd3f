/// What a server has done and does: a snapshot.
public struct ServerStatistics: Hashable, Sendable {
    /// How many connections it has taken.
    public var accepted = 0
    /// How many of them are open, without those that linger.
    public var active = 0
    /// How many have sent all, and wait for their peers to finish: ``ByteStreams/ByteStream/close(within:)``. They do not
    /// count for ``AcceptLimits/maxConnections``.
    public var lingering = 0
    /// How many of those are being drained: all, once that has begun.
    public var draining = 0
    /// How often it stopped taking connections because ``AcceptLimits/maxConnections`` were open.
    public var pauses = 0
    /// How often a connection could not be taken for want of descriptors or memory. It waits in the system, and is
    /// tried again: so one may be counted several times.
    public var shortages = 0
    /// Connections that came and could not be taken, for another reason, ever.
    public var shed = 0
    /// Of all connections, ever: what has come, and what has left.
    public var bytesReceived = 0
    public var bytesSent = 0
    /// How many connections have ended, by reason.
    public var closes: [CloseReason: Int] = [:]

    mutating func count(bytesOf connection: SocketConnection) {
        bytesReceived += connection.bytesReceived
        bytesSent += connection.bytesSent
    }
}

extension ServerStatistics: CustomStringConvertible {
    /// One line.
    public var description: String {
        let reasons = closes.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        return
            "\(accepted) connections accepted, \(shed) shed, \(active) active, \(draining) draining, \(lingering) lingering; "
            + "\(bytesReceived) bytes received, \(bytesSent) sent; closed: \(reasons.isEmpty ? "none" : reasons)"
    }
}

/// What a server counts as it happens.
struct ServerCounters {
    var accepted = 0
    var pauses = 0
    var shed = 0
    private var bytesReceived = 0
    private var bytesSent = 0
    /// Apart from the others: by far the most frequent.
    private var closedInOrder = 0
    private var otherCloses: [CloseReason: Int] = [:]

    mutating func ended(_ connection: SocketConnection, _ reason: CloseReason) {
        bytesReceived += connection.bytesReceived
        bytesSent += connection.bytesSent
        if reason == .closed { closedInOrder += 1 } else { otherCloses[reason, default: 0] += 1 }
    }

    /// Without what is open now.
    var statistics: ServerStatistics {
        var statistics = ServerStatistics()
        (statistics.accepted, statistics.pauses, statistics.shed) = (accepted, pauses, shed)
        (statistics.bytesReceived, statistics.bytesSent) = (bytesReceived, bytesSent)
        statistics.closes = otherCloses
        if closedInOrder > 0 { statistics.closes[.closed] = closedInOrder }
        return statistics
    }
}
