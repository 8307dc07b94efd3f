internal import Futures

/// The properties that a stream needs only when it ends, or when it writes more than the system takes. An
/// idle stream has no such object.
final class StreamDetails {
    /// The queue of the writes that wait. `nil` if no write waits.
    var outbound: OutboundQueue?
    var writablePromise: Promise<Void>?
    /// The promise of `shutdownWrite()`. Set as soon as the write side is no longer open.
    var shutdownPromise: Promise<Void>?
    /// The error that broke the connection.
    var failure: (any Error)?
    var closedPromise: Promise<Void>?
    /// The timer that ends a `close` at its deadline.
    var closeTimer: ScheduledTask<Void>?
    /// The number under which the loop lists the stream while the stream lingers. Kept after the lingering.
    var lingeringNumber: UInt64?
    /// The number of bytes that had come when the stream began to throw bytes away.
    var discardingStart: Int?
    /// Whether the loop calls `turnEnds` at the end of the turn. At this position, it takes no additional memory.
    var waitsForTurnEnd = false
    /// Whether the state of the loop's streams has a scope of this stream. At this position, it takes no additional memory.
    var hasScope = false
    /// The number of answers that are under way. At this position and of this size, it takes no additional memory.
    var answersUnderWay: Int32 = 0
    var drainingPromise: Promise<Void>?
    /// The stream whose bytes this one carries.
    fileprivate(set) weak var carried: ByteStream?
    /// The same stream, from its beginning to the end of this one, if this one has an owner. So a handler of a server may
    /// release a stream that it has made of its connection, as it may release the connection.
    var carriedHold: ByteStream?
    var onClosed: (((any Error)?) -> Void)?
    fileprivate var introduction: AnyObject?
    /// The stream itself, while something is pending.
    var hold: ByteStream?
}

extension ByteStream {
    /// The details. The first use makes them.
    final var madeDetails: StreamDetails {
        if let details { return details }
        let details = StreamDetails()
        self.details = details
        return details
    }

    final var outbound: OutboundQueue? { details?.outbound }

    /// The error that broke the connection. `nil` if no error did.
    package final var failure: (any Error)? { details?.failure }

    /// The stream that this one carries, if the handler knows only that one. A draining server tells and ends the
    /// carried stream.
    package final var carried: ByteStream? {
        get { details?.carried }
        set {
            madeDetails.carried = newValue
            if owner != nil { details?.carriedHold = newValue }
            if isDraining { newValue?.beginDraining() }
        }
    }

    /// The closure that the stream calls once, when it has closed, with the error that broke it. It takes less memory than
    /// the future.
    package final var onClosed: (((any Error)?) -> Void)? {
        get { details?.onClosed }
        set { madeDetails.onClosed = newValue }
    }

    /// The information that a proxy sent about the connection before its first byte.
    package final var introduction: AnyObject? {
        get { details?.introduction }
        set {
            madeDetails.introduction = newValue
            // The bytes so far came from the proxy, not from the peer.
            if !hasUnread { exchange = .fresh }
        }
    }
}
