internal import Futures

/// How much a stream keeps in memory, and how long it takes to close. Counted in bytes, per connection.
public struct StreamLimits: Hashable, Sendable {
    /// From here on, what the peer sends is left waiting in the system as long as nobody reads.
    public var readHighWaterMark = 65_536
    /// Below this, it is taken in again.
    public var readLowWaterMark = 16_384
    /// From here on, ``ByteStream/writable`` is pending.
    public var writeHighWaterMark = 65_536
    /// Below this, it completes.
    public var writeLowWaterMark = 16_384
    /// A write that finds more than this queued fails with ``StreamError/backpressureExceeded(queued:limit:)``,
    /// and the connection is aborted.
    public var writeCap = 16_777_216
    /// How long ``ByteStream/close(within:)`` may take to send what is queued, unless told otherwise.
    public var closeDeadline: Duration = .seconds(5)

    public init() {}

    /// Throws ``FutureError/invalidArgument(_:)`` if the limits contradict each other.
    package func validate() throws {
        try validateMarks("read", low: readLowWaterMark, high: readHighWaterMark)
        try validateMarks("write", low: writeLowWaterMark, high: writeHighWaterMark)
        guard writeCap >= 0 else {
            throw FutureError.invalidArgument("a write cap of \(writeCap) is negative; give zero or more")
        }
        guard closeDeadline >= .zero else {
            throw FutureError.invalidArgument(
                "a close deadline of \(closeDeadline) is negative; give zero or more")
        }
    }

    private func validateMarks(_ kind: String, low: Int, high: Int) throws {
        guard high > 0, low >= 0, low <= high else {
            throw FutureError.invalidArgument(
                "\(kind) water marks of \(low) and \(high) make no sense; give a high one above zero, "
                    + "and a low one from zero to that")
        }
    }
}
