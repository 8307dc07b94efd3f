public import Futures

/// A connection as two streams of bytes: what the peer sends is read, what is written goes to the peer.
///
/// A stream belongs to its loop, and may only be used on that loop's thread; elsewhere its methods trap. While
/// a read, a write or a close is pending the stream keeps itself alive. Otherwise releasing the last reference
/// aborts the connection, and in debug builds reports ``StreamError/droppedUnclosed``.
///
/// The failure that ends a connection reaches ``closed``, whatever is pending, and every later call. Nowhere does
/// it count as unhandled.
open class ByteStream {
    // Touched only on the loop's thread.

    public final let loop: EventLoop
    public final let limits: StreamLimits
    package final let transport: any ByteTransport

    final let inbound = InboundBuffer()
    final var reader: Reader?
    final var isReading = false

    /// What waits to be written, while there is something.
    final var outbound: OutboundQueue?
    final var writeSide = WriteSide.open
    final var writablePromise: Promise<Void>?

    final var phase = Phase.open
    /// What reads and writes fail with, once they do.
    final var refusal: (any Error)?
    /// What broke the connection, if something did.
    final var failure: (any Error)?
    final var closedPromise: Promise<Void>?
    final var closeTimer: ScheduledTask<Void>?

    /// The stream itself, while something is pending.
    private final var hold: ByteStream?

    enum Phase {
        case open
        /// `close` was called, and what is queued is being written.
        case flushing
        /// The transport has been told to close.
        case closing
        case closed
    }

    enum WriteSide {
        case open
        case shuttingDown(Promise<Void>)
        case shutDown
    }

    /// `limits` have been validated.
    package init(loop: EventLoop, transport: any ByteTransport, limits: StreamLimits = StreamLimits()) {
        self.loop = loop
        self.transport = transport
        self.limits = limits
    }

    deinit {
        guard phase == .open else { return }
        loop.checkThread()
        closedPromise?.fail(StreamError.droppedUnclosed)
        if case .shutDown = writeSide, inbound.isAtEnd { return transport.close(resetting: false) }
        transport.close(resetting: true)
        #if DEBUG
            _ = loop.failed(StreamError.droppedUnclosed, as: Void.self)
        #endif
    }

    /// Whether the transport may be used.
    final var isConnected: Bool { phase == .open || phase == .flushing }

    /// Keeps the stream alive as long as something is pending.
    final func updateHold() {
        let isClosing = phase == .flushing || phase == .closing
        let isNeeded = reader != nil || isClosing || writeSide.isShuttingDown || outbound != nil
        if isNeeded != (hold != nil) { hold = isNeeded ? self : nil }
    }

    /// A future of an operation that this connection cannot carry out any more.
    final func refused<Value>(_ error: any Error) -> Future<Value> {
        loop.failed(error).ignoreFailure()
    }

    /// A promise whose future many may hold: nobody's request to cancel ends it for the others.
    final func makeSharedPromise() -> Promise<Void> {
        let promise = loop.makePromise(of: Void.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { .continue }
        return promise
    }
}

extension ByteStream.WriteSide {
    var isShuttingDown: Bool {
        if case .shuttingDown = self { true } else { false }
    }
}

@available(*, unavailable, message: "A stream belongs to its loop's thread; use loop.execute { … } there.")
extension ByteStream: Sendable {}
