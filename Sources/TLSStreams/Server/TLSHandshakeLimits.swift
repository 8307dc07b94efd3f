internal import ByteStreams

/// The limits of the handshakes of a server.
public struct TLSHandshakeLimits: Hashable, Sendable {
    /// The longest time of a handshake. The time of the greeting, and the time in which a connection waits for its
    /// turn, count, too.
    public var timeout: Duration = .seconds(10)
    /// The longest time until a client has sent its whole greeting, which it sends first of all, at once. Until then,
    /// a connection takes nothing of ``maxConcurrent``. The default has room for two losses on the way: TCP sends
    /// again after a second, and after three.
    public var greetingTimeout: Duration = .seconds(5)
    /// The most handshakes under way at a time: of clients that have greeted. Further ones wait, and of each no more is read
    /// than ``StreamLimits/readHighWaterMark``. While one waits, the client that has owed its next message for longest makes
    /// room, if it has owed it for a quarter of a second: its connection ends with ``ByteStreams/StreamError/madeRoom``.
    public var maxConcurrent = 256

    public init() {}

    func validate() throws {
        try checkHandshake(timeout)
        try requireArgument(
            greetingTimeout > .zero,
            "greetingTimeout must be positive, not \(greetingTimeout)")
        try requireArgument(
            maxConcurrent > 0, "maxConcurrent must be at least 1, not \(maxConcurrent)")
    }
}
