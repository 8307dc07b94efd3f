internal import Futures

/// The limits for a server's handshakes.
public struct TLSHandshakeLimits: Hashable, Sendable {
    /// The time limit for a handshake. It includes the greeting and the time that a connection waits for its turn.
    public var timeout: Duration = .seconds(10)
    /// The time limit for a client's whole greeting, which is its first message. Until the greeting is complete, a
    /// connection does not count towards ``maxConcurrent``. The default leaves room for two lost packets: TCP
    /// retransmits after one second, and after three.
    public var greetingTimeout: Duration = .seconds(5)
    /// The maximum number of concurrent handshakes, counted from the client's greeting on. Further clients wait, and at
    /// most ``StreamLimits/readHighWaterMark`` bytes are read from each. While one waits, the client that has owed its
    /// next message longest makes room, if that is at least a quarter of a second: its connection ends with
    /// ``ByteStreams/StreamError/madeRoom``.
    public var maxConcurrent = 256

    public init() {}

    func validate() throws {
        try checkHandshake(timeout)
        try requirePositive("greetingTimeout", greetingTimeout)
        try requireArgument("maxConcurrent", maxConcurrent, atLeast: 1)
    }
}
