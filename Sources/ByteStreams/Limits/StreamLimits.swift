internal import Futures

/// How much a stream keeps in memory, counted in bytes, and how long it waits for its peer. Per connection.
///
/// A time limit that passes ends the connection with ``StreamError/timedOut(_:after:unread:unsent:)``, as much as
/// 1.1 s late and never early. `nil` is no limit. They end connections, and so protect a server from its peers; to
/// give up a single operation, use its future's `timeout(after:)`.
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
    /// and the connection is aborted. Writes that are smaller than what it takes to remember them count as that:
    /// 512 bytes, beyond the first hundred or so.
    public var writeCap = 16_777_216
    /// How long ``ByteStream/close(within:)`` may take to send what is queued and to hear the peer out, unless told
    /// otherwise.
    public var closeTimeout: Duration = .seconds(5)
    /// How many bytes that come after ``ByteStream/close(within:)`` are thrown away, once all is sent, before the peer
    /// is not heard out any longer.
    public var closeDiscardLimit = 1_048_576
    /// How many connections of the loop may linger after ``ByteStream/close(within:)`` until their peers have finished.
    /// One more, and the one that began first is reset; it fails with ``StreamError/crowdedOut(limit:)``. None lingers if
    /// it is zero.
    public var maxLingering = 1000

    /// How long nothing may come nor leave. A connection with nothing unsent is closed, and not reset. Does not pass
    /// while this side leaves bytes unread.
    public var idleTimeout: Duration?
    /// How long a pending read, or a `forEachChunk` that waits for bytes, may see none come.
    public var readTimeout: Duration?
    /// How long `read(exactly:)`, `readLine` and the like may take from the first byte that is there for them until
    /// they are complete: what comes drop by drop is given up.
    public var framingTimeout: Duration? = .seconds(30)
    /// Each time so many bytes have come for such a read it may take a second longer.
    public var framingRate = 4096
    /// How long it may take from the start of the connection until the first read, or the first chunk of a
    /// `forEachChunk`, is complete.
    public var handshakeTimeout: Duration?
    /// How long the peer may take none of the bytes that wait to be sent.
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
                "a close deadline of \(closeTimeout) is negative; give zero or more")
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

/// Which of a stream's time limits has passed.
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

    /// As in ``StreamLimits``.
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
    /// What is set for `limit`; `nil` is none.
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
