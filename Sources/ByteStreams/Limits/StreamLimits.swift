internal import Futures

/// The limits of each connection: how many bytes a stream keeps in memory, and how long it waits for its peer.
///
/// A time limit that passes ends the connection with ``StreamError/timedOut(_:after:unread:unsent:)``, as much as
/// 1.1 s late and never early. `nil` means no limit. Time limits end connections, and so protect a server from its
/// peers. To give up a single operation, use its future's `timeout(after:)`.
public struct StreamLimits: Hashable, Sendable {
    /// The number of unread bytes at which the stream takes in no more, as long as nobody reads: the rest waits in
    /// the system.
    public var readHighWaterMark = 65_536
    /// The number of unread bytes below which the stream takes in more again.
    public var readLowWaterMark = 16_384
    /// The number of queued bytes at which ``ByteStream/writable`` becomes pending.
    public var writeHighWaterMark = 65_536
    /// The number of queued bytes below which ``ByteStream/writable`` completes.
    public var writeLowWaterMark = 16_384
    /// The number of bytes that may be queued. A write that finds more fails with
    /// ``StreamError/backpressureExceeded(queued:limit:)``, and the connection is aborted. A write that is smaller
    /// than what it takes to remember it counts as that: 512 bytes, beyond the first hundred or so.
    public var writeCap = 16_777_216
    /// The time that ``ByteStream/close(within:)`` has to send what is queued and to hear the peer out, unless told
    /// otherwise.
    public var closeTimeout: Duration = .seconds(5)
    /// The number of bytes thrown away after ``ByteStream/close(within:)``, once all is sent, before the stream stops
    /// hearing the peer out.
    public var closeDiscardLimit = 1_048_576
    /// The number of the loop's connections that may linger after ``ByteStream/close(within:)`` until their peers
    /// have finished. One more resets the one that began first, which fails with ``StreamError/crowdedOut(limit:)``.
    /// With zero no connection lingers.
    public var maxLingering = 1000

    /// The time in which something has to come or leave. When it passes, a connection with nothing unsent is closed,
    /// and not reset. It does not pass while this side leaves bytes unread.
    public var idleTimeout: Duration?
    /// The time in which bytes have to come for a pending read, or for a `forEachChunk` that waits for bytes.
    public var readTimeout: Duration?
    /// The time that `read(exactly:)`, `readLine` and the like may take from their first byte until they are
    /// complete. Messages that come drop by drop are given up.
    public var framingTimeout: Duration? = .seconds(30)
    /// The number of bytes that must come for such a read to earn it one more second.
    public var framingRate = 4096
    /// The time from the start of the connection in which the first read, or the first chunk of a `forEachChunk`,
    /// must be complete.
    public var handshakeTimeout: Duration?
    /// The time in which the peer has to take some of the bytes that wait to be sent.
    public var writeTimeout: Duration? = .seconds(30)

    public init() {}

    /// Throws ``FutureError/invalidArgument(_:)`` if the limits contradict each other.
    package func validate() throws {
        try validateMarks("read", low: readLowWaterMark, high: readHighWaterMark)
        try validateMarks("write", low: writeLowWaterMark, high: writeHighWaterMark)
        guard writeCap >= 0 else {
            throw FutureError.invalidArgument("a write cap of \(writeCap) is negative; give zero or more")
        }
        guard closeTimeout >= .zero else {
            throw FutureError.invalidArgument(
                "a close timeout of \(closeTimeout) is negative; give zero or more")
        }
        guard closeDiscardLimit >= 0, maxLingering >= 0 else {
            throw FutureError.invalidArgument(
                "a closeDiscardLimit of \(closeDiscardLimit) and maxLingering of \(maxLingering) make no sense; "
                    + "give zero or more of both")
        }
        for limit in StreamTimeLimit.allCases {
            guard let duration = self[limit], duration <= .zero else { continue }
            throw FutureError.invalidArgument(
                "\(limit.name) of \(duration) makes no sense; give more than zero, or nil for no limit")
        }
        guard framingRate > 0 else {
            throw FutureError.invalidArgument(
                "a framingRate of \(framingRate) makes no sense; give more than zero")
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

/// The time limit of a stream that has passed.
///
/// Of several that have passed, the first in this order is reported.
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

    static let all = allCases

    /// Whether the limit runs from the moment in which the stream is made.
    var runsFromStart: Bool {
        switch self {
        case .handshake, .idle: true
        case .framing, .read, .write: false
        }
    }

    /// The name of the limit, as in ``StreamLimits``.
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
