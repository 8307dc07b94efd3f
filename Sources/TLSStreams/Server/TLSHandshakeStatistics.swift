/// Counts of the handshakes of a server.
public struct TLSHandshakeStatistics: Hashable, Sendable {
    /// The connections whose clients have not sent their whole greeting yet.
    public internal(set) var silent = 0
    /// The handshakes that are under way now.
    public internal(set) var underWay = 0
    /// The handshakes that have led to a connection.
    public internal(set) var completed = 0
    /// Those of ``completed`` that have resumed an earlier session.
    public internal(set) var resumed = 0
    /// The handshakes that have failed with a ``TLSError``, by its reason.
    public internal(set) var failed: [TLSError.Reason: Int] = [:]
    /// The handshakes that have failed with another error: of the system, or of ``TLSServerConfiguration/chooseContext``.
    public internal(set) var otherwiseFailed = 0

    public init() {}
}
