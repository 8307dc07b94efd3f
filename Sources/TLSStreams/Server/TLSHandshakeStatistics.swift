/// Counts of a server's handshakes.
public struct TLSHandshakeStatistics: Hashable, Sendable {
    /// The number of connections whose client has not sent its whole greeting yet.
    public internal(set) var silent = 0
    /// The number of handshakes under way now.
    public internal(set) var underWay = 0
    /// The number of handshakes that led to a connection.
    public internal(set) var completed = 0
    /// The number of ``completed`` handshakes that resumed an earlier session.
    public internal(set) var resumed = 0
    /// The number of handshakes that failed with a ``TLSError``, by its reason.
    public internal(set) var failed: [TLSError.Reason: Int] = [:]
    /// The number of handshakes that failed with another error, such as one of the system or of
    /// ``TLSServerConfiguration/chooseContext``.
    public internal(set) var otherwiseFailed = 0

    public init() {}
}
