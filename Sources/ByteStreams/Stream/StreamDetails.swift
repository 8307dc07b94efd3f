package import Futures

/// The part of a stream that it needs only when it writes more than the system takes, or ends. An idle stream has no
/// such object.
final class StreamDetails {
    fileprivate var outbound: OutboundQueue?
    fileprivate var writablePromise: Promise<Void>?
    fileprivate var failure: (any Error)?
    fileprivate var closedPromise: Promise<Void>?
    fileprivate var closeTimer: ScheduledTask<Void>?
    fileprivate var lingeringNumber: UInt64?
    fileprivate var discardingStart: Int?
    fileprivate var drainingPromise: Promise<Void>?
    fileprivate var onIdle: (() -> Void)?
    fileprivate var hold: ByteStream?
}

extension ByteStream {
    /// The writes that wait, while there are any.
    final var outbound: OutboundQueue? {
        get { details?.outbound }
        set { detailsToSet(newValue)?.outbound = newValue }
    }

    final var writablePromise: Promise<Void>? {
        get { details?.writablePromise }
        set { detailsToSet(newValue)?.writablePromise = newValue }
    }

    /// The error that broke the connection, if one did.
    final var failure: (any Error)? {
        get { details?.failure }
        set { detailsToSet(newValue)?.failure = newValue }
    }

    final var closedPromise: Promise<Void>? {
        get { details?.closedPromise }
        set { detailsToSet(newValue)?.closedPromise = newValue }
    }

    final var closeTimer: ScheduledTask<Void>? {
        get { details?.closeTimer }
        set { detailsToSet(newValue)?.closeTimer = newValue }
    }

    /// The stream's number among those of its loop that linger, or did.
    final var lingeringNumber: UInt64? {
        get { details?.lingeringNumber }
        set { detailsToSet(newValue)?.lingeringNumber = newValue }
    }

    /// The number of bytes that had come when the stream began to throw bytes away.
    final var discardingStart: Int? {
        get { details?.discardingStart }
        set { detailsToSet(newValue)?.discardingStart = newValue }
    }

    /// The promise of the future that tells the stream's user that its server drains.
    package final var drainingPromise: Promise<Void>? {
        get { details?.drainingPromise }
        set { detailsToSet(newValue)?.drainingPromise = newValue }
    }

    /// Called when the peer no longer waits for anything: `isIdle`.
    package final var onIdle: (() -> Void)? {
        get { details?.onIdle }
        set { detailsToSet(newValue)?.onIdle = newValue }
    }

    /// The stream itself, while something is pending.
    final var hold: ByteStream? {
        get { details?.hold }
        set { detailsToSet(newValue)?.hold = newValue }
    }

    /// The details, made if there is a value to put into them.
    private func detailsToSet<Value>(_ value: Value?) -> StreamDetails? {
        if value != nil, details == nil { details = StreamDetails() }
        return details
    }
}
