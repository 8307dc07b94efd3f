internal import Futures

/// The limits of each connection: how many bytes a stream keeps in memory, and how long it waits for its peer.
///
/// When a time limit passes, the connection ends with ``StreamError/timedOut(_:after:unread:unsent:)``. This
/// happens up to 1.1 s after the limit, and never before it. A time limit of `nil` means no limit. Time limits
/// end the whole connection, and so protect a server from its peers. To give up only one operation, use
/// `timeout(after:)` of the operation's future.
///
/// Bytes are *queued* if you have written them and the system has not accepted them yet
/// (``ByteStream/bufferedBytes``).
public struct StreamLimits: Hashable, Sendable {
    /// The number of unread bytes at which the stream stops taking bytes from the system. Further bytes wait
    /// in the system. There is one exception: while a read waits for more bytes, the stream continues to take
    /// bytes, even above this number.
    public var readHighWaterMark = 65_536
    /// The number of unread bytes below which the stream takes bytes from the system again, after it has stopped
    /// at ``readHighWaterMark``.
    public var readLowWaterMark = 16_384
    /// The number of queued bytes at which ``ByteStream/writable`` becomes pending.
    public var writeHighWaterMark = 65_536
    /// The number of queued bytes below which a pending ``ByteStream/writable`` completes.
    public var writeLowWaterMark = 16_384
    /// The most bytes that may be queued when a write begins. If more bytes are queued, the write fails with
    /// ``StreamError/backpressureExceeded(queued:limit:)``, and the connection is aborted.
    ///
    /// The list of queued writes takes memory, too: a little more than 512 bytes for each write after the
    /// first 100 or so. The cap is compared with the queued bytes or with the memory of the list, whichever is
    /// larger.
    public var writeCap = 16_777_216
    /// The time that ``ByteStream/close(within:)`` uses if the call gives none. In this time, the stream sends the
    /// queued bytes, and then reads until the peer has finished sending. When the grace of an ending server is over,
    /// written bytes also get this time to leave.
    public var closeTimeout: Duration = .seconds(5)
    /// The most bytes from the peer that a stream throws away after ``ByteStream/close(within:)``. If the peer
    /// sends more, the stream does not wait until the peer has finished sending: the stream closes as soon as all
    /// queued bytes have been sent.
    public var closeDiscardLimit = 1_048_576
    /// The most connections of one loop that may linger (see ``ByteStream/close(within:)``) at a time. When one
    /// more begins to linger, the connection that has lingered longest is reset, and fails with
    /// ``StreamError/crowdedOut(limit:)``. Zero means that no connection lingers.
    public var maxLingering = 1000

    /// The treatment of lines that are longer than the limit of their reads.
    public var longLines = LongLines.fail

    /// The longest time in which no bytes come and no bytes are sent. When this time has passed, the
    /// connection is closed normally if all written bytes have been sent, and is reset if not. This time does
    /// not run while your code is behind, that is, while there are received bytes that your code has not
    /// read, and no read waits for more bytes.
    public var idleTimeout: Duration?
    /// The longest time in which no bytes come while a read or a `forEachChunk` waits for bytes.
    public var readTimeout: Duration?
    /// The longest time from the first byte of a message until the message is complete. A message is what one
    /// `read(exactly:)`, `readLine` or similar read returns. This limit ends the connection to a peer that sends
    /// a message slowly, in small pieces.
    public var framingTimeout: Duration? = .seconds(30)
    /// The lowest rate, in bytes per second, at which a message may arrive. The time limit for a message is
    /// ``framingTimeout``, plus one second for every `framingRate` bytes of the message that have come. With the
    /// default values, for example, a message of which 40,960 bytes have come may take 40 s.
    public var framingRate = 4096
    /// The longest time from the start of the connection until the first read, or the first chunk of a
    /// `forEachChunk`, is complete.
    public var handshakeTimeout: Duration?
    /// The longest time in which bytes wait to be sent and the peer takes none of them. The stream looks for
    /// progress only four times in this time, so the connection may end later by up to a quarter of this time.
    public var writeTimeout: Duration? = .seconds(30)
    /// The longest time that the connection may last, whatever happens on it. When this time has passed, the connection is
    /// closed normally if all written bytes have been sent, and is reset if not. A server that balances its load gives its
    /// connections such a time, so that clients look for another server now and then.
    public var lifetime: Duration?

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
            "closeDiscardLimit and maxLingering must be at least 0, not \(closeDiscardLimit) and \(maxLingering)"
        )
        for limit in StreamTimeLimit.allCases {
            guard let duration = self[limit], duration <= .zero else { continue }
            throw FutureError.invalidArgument(
                "\(limit.name) must be positive, not \(duration); give nil for no limit")
        }
        try requireArgument("framingRate", framingRate, atLeast: 1)
    }

    private func validateMarks(_ kind: String, low: Int, high: Int) throws {
        try requireArgument(
            high > 0 && low >= 0 && low <= high,
            "\(kind)HighWaterMark must be at least 1 and \(kind)LowWaterMark from 0 to that, "
                + "not \(high) and \(low)")
    }
}

/// The treatment of a line longer than the limit of ``ByteStream/readLine(limit:)`` or ``ByteStream/lines(limit:)``.
public enum LongLines: Hashable, Sendable {
    /// The read fails with ``StreamError/limitExceeded(limit:)``, and takes nothing.
    case fail
    /// The read returns the first bytes of the line, as many as the limit allows, when the line has ended. The others are
    /// dropped as they come. ``ByteStream/longLineCount`` counts such lines.
    case cut
    /// All of the line is dropped as it comes, and the read goes on with the next one. ``ByteStream/longLineCount`` counts
    /// such lines.
    case skip
}

/// A name for each time limit of ``StreamLimits``. ``StreamError/timedOut(_:after:unread:unsent:)`` names the
/// limit that has passed.
///
/// If several limits have passed, the error names the first of them, in this order: ``handshake``, ``framing``,
/// ``read``, ``write``, ``idle``, ``lifetime``.
public enum StreamTimeLimit: Int, Sendable, CaseIterable {
    /// The limit ``StreamLimits/handshakeTimeout``.
    case handshake
    /// The limit ``StreamLimits/framingTimeout``.
    case framing
    /// The limit ``StreamLimits/readTimeout``.
    case read
    /// The limit ``StreamLimits/writeTimeout``.
    case write
    /// The limit ``StreamLimits/idleTimeout``.
    case idle
    /// The limit ``StreamLimits/lifetime``.
    case lifetime

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
        case .lifetime: "lifetime"
        }
    }

    fileprivate var property: WritableKeyPath<StreamLimits, Duration?> {
        switch self {
        case .handshake: \.handshakeTimeout
        case .framing: \.framingTimeout
        case .read: \.readTimeout
        case .write: \.writeTimeout
        case .idle: \.idleTimeout
        case .lifetime: \.lifetime
        }
    }

    /// Whether this limit runs from the start of the connection, before anything happens on it.
    var runsFromStart: Bool { [.handshake, .idle, .lifetime].contains(self) }

    /// Whether the connection is closed normally, and not reset, when this limit has passed and all bytes have been sent.
    var closesNormally: Bool { [.idle, .lifetime].contains(self) }
}

extension StreamLimits {
    /// The time that is set for `limit`, or `nil` if no time is set.
    public subscript(limit: StreamTimeLimit) -> Duration? {
        get { self[keyPath: limit.property] }
        set { self[keyPath: limit.property] = newValue }
    }

    /// The limits of a stream that carries another one. That one enforces all time limits except that of a message.
    package var beneath: StreamLimits {
        var limits = self
        for limit in StreamTimeLimit.all where limit != .framing { limits[limit] = nil }
        return limits
    }
}
