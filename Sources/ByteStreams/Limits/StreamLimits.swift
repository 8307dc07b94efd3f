internal import Futures

/// The limits of each connection: how many bytes a stream keeps in memory, and how long it waits for its peer.
///
/// When a time limit passes, the connection ends with ``StreamError/timedOut(_:after:unread:unsent:)``. This happens up
/// to 1.1 s late, and never early. A time limit of `nil` means no limit. Time limits end the whole connection, and so
/// protect a server from its peers. To give up only one operation, use `timeout(after:)` of the operation's future.
public struct StreamLimits: Hashable, Sendable {
    /// The number of unread bytes at which the stream stops taking bytes from the system, if no read waits for bytes.
    /// Further bytes wait in the system.
    public var readHighWaterMark = 65_536
    /// The number of unread bytes below which the stream takes bytes from the system again.
    public var readLowWaterMark = 16_384
    /// The number of queued bytes at which ``ByteStream/writable`` becomes pending.
    public var writeHighWaterMark = 65_536
    /// The number of queued bytes below which a pending ``ByteStream/writable`` completes.
    public var writeLowWaterMark = 16_384
    /// The number of bytes that may be queued when a write begins. If more bytes are queued, the write fails with
    /// ``StreamError/backpressureExceeded(queued:limit:)``, and the connection is aborted. It takes 512 bytes to
    /// remember a queued write, so a smaller write counts as 512 bytes. The first hundred or so queued writes are
    /// exempt from this rule.
    public var writeCap = 16_777_216
    /// The time that ``ByteStream/close(within:)`` has if its deadline is `nil`. In this time the stream
    /// sends the queued bytes, then keeps reading until the peer has finished sending.
    public var closeTimeout: Duration = .seconds(5)
    /// The number of bytes from the peer that a stream may throw away after ``ByteStream/close(within:)``. If more than
    /// this number have come and everything is sent, the stream no longer waits for the peer to finish.
    public var closeDiscardLimit = 1_048_576
    /// The number of the loop's connections that may linger (see ``ByteStream/close(within:)``) at a time. If
    /// another connection begins to linger, the connection that has lingered longest is reset and fails with
    /// ``StreamError/crowdedOut(limit:)``. Zero means that no connection lingers.
    public var maxLingering = 1000

    /// The time in which bytes have to come or leave. When this time passes, a connection that has no unsent bytes is
    /// closed, and not reset. This time does not pass while this side leaves bytes unread.
    public var idleTimeout: Duration?
    /// The time in which bytes have to come while a read is pending, or while a `forEachChunk` waits for bytes.
    public var readTimeout: Duration?
    /// The time that `read(exactly:)`, `readLine` and similar reads may take, from the first byte of the message until
    /// the message is complete. A peer that sends a message slowly, in tiny pieces, is given up.
    public var framingTimeout: Duration? = .seconds(30)
    /// The number of bytes of a message for which the read gets one second more than ``framingTimeout``. Twice as many
    /// bytes give two seconds more.
    public var framingRate = 4096
    /// The time in which the first read, or the first chunk of a `forEachChunk`, must be complete. This time begins
    /// with the connection.
    public var handshakeTimeout: Duration?
    /// The time in which the peer has to take some of the bytes that wait to be sent.
    public var writeTimeout: Duration? = .seconds(30)

    public init() {}

    /// Throws ``FutureError/invalidArgument(_:)`` if the limits contradict each other.
    package func validate() throws {
        try validateMarks("read", low: readLowWaterMark, high: readHighWaterMark)
        try validateMarks("write", low: writeLowWaterMark, high: writeHighWaterMark)
        try requireArgument(writeCap >= 0, "a write cap of \(writeCap) is negative; give zero or more")
        try requireArgument(
            closeTimeout >= .zero, "a close timeout of \(closeTimeout) is negative; give zero or more")
        try requireArgument(
            closeDiscardLimit >= 0 && maxLingering >= 0,
            "a closeDiscardLimit of \(closeDiscardLimit) and maxLingering of \(maxLingering) make no sense; "
                + "give zero or more of both")
        for limit in StreamTimeLimit.allCases {
            guard let duration = self[limit], duration <= .zero else { continue }
            throw FutureError.invalidArgument(
                "\(limit.name) of \(duration) makes no sense; give more than zero, or nil for no limit")
        }
        try requireArgument(
            framingRate > 0, "a framingRate of \(framingRate) makes no sense; give more than zero")
    }

    private func validateMarks(_ kind: String, low: Int, high: Int) throws {
        try requireArgument(
            high > 0 && low >= 0 && low <= high,
            "\(kind) water marks of \(low) and \(high) make no sense; give a high one above zero, "
                + "and a low one from zero to that")
    }
}

/// A time limit of ``StreamLimits`` that has passed.
///
/// If several time limits have passed, the first in the order of these cases is reported.
public enum StreamTimeLimit: Int, Sendable, CaseIterable {
    /// ``StreamLimits/handshakeTimeout``
    case handshake
    /// ``StreamLimits/framingTimeout``
    case framing
    /// ``StreamLimits/readTimeout``
    case read
    /// ``StreamLimits/writeTimeout``
    case write
    /// ``StreamLimits/idleTimeout``
    case idle

    // `allCases` makes a new array each time.
    static let all = allCases

    /// The name of this limit's property in ``StreamLimits``.
    public var name: String {
        switch self {
        case .handshake: "handshakeTimeout"
        case .framing: "framingTimeout"
        case .read: "readTimeout"
        case .write: "writeTimeout"
        case .idle: "idleTimeout"
        }
    }
}

extension StreamLimits {
    /// The time set for `limit`; `nil` means no limit.
    public subscript(limit: StreamTimeLimit) -> Duration? {
        switch limit {
        case .handshake: handshakeTimeout
        case .framing: framingTimeout
        case .read: readTimeout
        case .write: writeTimeout
        case .idle: idleTimeout
        }
    }
}

/// Throws ``FutureError/invalidArgument(_:)`` with the text `complaint` unless `isValid` is `true`.
package func requireArgument(_ isValid: Bool, _ complaint: @autoclosure () -> String) throws {
    guard isValid else { throw FutureError.invalidArgument(complaint()) }
}
