/// How the connections ended that were open when a server was shut down.
public struct ShutdownSummary: Hashable, Sendable {
    /// The number that ended in order: everything written was sent and, over TCP, acknowledged by the peer's system.
    public var finished = 0
    /// The number that this side aborted: the server at the end of its time, or a handler, for example because it
    /// failed.
    public var aborted = 0
    /// The number that ended otherwise: by a reset of the peer, a time limit, or before the peer acknowledged
    /// everything.
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
    /// Like `3 connections finished, 1 was aborted, 0 failed`.
    public var description: String {
        "\(finished) \(finished == 1 ? "connection" : "connections") finished, "
            + "\(aborted) \(aborted == 1 ? "was" : "were") aborted, \(failed) failed"
    }
}
