/// How the connections of a server ended during its shutdown: the number that finished, that were aborted, that failed,
/// and that were cut.
public struct ShutdownSummary: Hashable, Sendable {
    /// The number of connections that ended normally. All written bytes were sent. Over TCP, the system of
    /// the peer also acknowledged them.
    public var finished: Int
    /// The number of connections that this side ended before their handlers did. The server does so at the deadline, or
    /// when the handler of the connection fails. Handlers can abort connections, too.
    public var aborted: Int
    /// The number of connections that ended in another way: by a reset from the peer, by a time limit, or before the
    /// peer had acknowledged everything.
    public var failed: Int

    /// The number of connections that the draining server half-closed, and whose handlers then wrote more. The peers
    /// did not get that, and the first such write on each connection failed with ``ByteStreams/StreamError/drained``.
    public var cut: Int

    public init(finished: Int = 0, aborted: Int = 0, failed: Int = 0, cut: Int = 0) {
        self.finished = finished
        self.aborted = aborted
        self.failed = failed
        self.cut = cut
    }

    package mutating func add(_ other: ShutdownSummary) {
        finished += other.finished
        aborted += other.aborted
        failed += other.failed
        cut += other.cut
    }

    mutating func count(_ reason: CloseReason) {
        switch reason {
        case .closed: finished += 1
        case .aborted: aborted += 1
        case .cut: cut += 1
        default: failed += 1
        }
    }
}

extension ShutdownSummary: CustomStringConvertible {
    /// The numbers in one line, such as `3 connections finished, 1 was aborted, 0 failed`. If connections were cut,
    /// their number comes last: `, 2 were cut`.
    public var description: String {
        "\(finished) \(finished == 1 ? "connection" : "connections") finished, "
            + "\(aborted) \(aborted == 1 ? "was" : "were") aborted, \(failed) failed"
            + (cut == 0 ? "" : ", \(cut) \(cut == 1 ? "was" : "were") cut")
    }
}
