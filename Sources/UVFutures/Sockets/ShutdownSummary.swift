/// How the connections of a server ended during its shutdown: the number that finished, the number that were
/// aborted, and the number that failed.
public struct ShutdownSummary: Hashable, Sendable {
    /// The number of connections that ended normally. All written bytes were sent. Over TCP, the system of
    /// the peer also acknowledged them.
    public var finished = 0
    /// The number of connections that this side aborted. The server aborts a connection at the deadline, or
    /// when the handler of the connection fails. Handlers can abort connections, too.
    public var aborted = 0
    /// The number of connections that ended in another way: by a reset from the peer, by a time limit, or before the
    /// peer had acknowledged everything.
    public var failed = 0

    public init(finished: Int = 0, aborted: Int = 0, failed: Int = 0) {
        self.finished = finished
        self.aborted = aborted
        self.failed = failed
    }

    mutating func count(_ reason: CloseReason) {
        switch reason {
        case .closed: finished += 1
        case .aborted: aborted += 1
        default: failed += 1
        }
    }
}

extension ShutdownSummary: CustomStringConvertible {
    /// The numbers in one line, such as `3 connections finished, 1 was aborted, 0 failed`.
    public var description: String {
        "\(finished) \(finished == 1 ? "connection" : "connections") finished, "
            + "\(aborted) \(aborted == 1 ? "was" : "were") aborted, \(failed) failed"
    }
}
