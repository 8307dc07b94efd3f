internal import ByteStreams

/// The limits of the handshakes of a server.
public struct TLSHandshakeLimits: Hashable, Sendable {
    /// The longest time of a handshake. The time in which a connection waits for its turn counts, too.
    public var timeout: Duration = .seconds(10)
    /// The most handshakes under way at a time. Further connections wait, and nothing of them is read.
    public var maxConcurrent = 256

    public init() {}

    func validate() throws {
        try requireArgument(
            timeout > .zero, "a handshake timeout of \(timeout) makes no sense; give more than zero")
        try requireArgument(
            maxConcurrent > 0, "\(maxConcurrent) handshakes at a time would let nobody in; give one or more")
    }
}
