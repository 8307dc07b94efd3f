public import Futures

/// A connection as two streams of bytes: this side reads what the peer sends, and writes what the peer gets.
///
/// A stream belongs to its loop, and may only be used on that loop's thread. On any other thread, its methods trap. A
/// stream keeps itself alive while a read, a write or a close is pending. Otherwise, releasing the last reference ends
/// the connection. A connection that has been read to its end is then closed. Any other connection is aborted. Debug
/// builds report such an abort as ``StreamError/droppedUnclosed``.
///
/// If an error breaks the connection, ``closed``, all pending futures and all later calls fail with that error. Such a
/// failure never counts as unhandled.
open class ByteStream {
    // Touched only on the loop's thread.

    public final var loop: EventLoop { core }
    package final let core: LoopCore
    public final var limits: StreamLimits { shared.limits }
    final let shared: SharedLimits
    package final let transport: any ByteTransport
    /// The bytes that nobody has read yet. Made for the first bytes that have to wait. Framing reads see the end
    /// there too.
    private final var buffer: InboundBuffer?
    /// The reader that waits for bytes, or the one that `read()` uses again.
    private final var lastReader: Reader?
    final var writeSide = WriteSide.open
    final var watch: StreamWatch?
    /// The parts that an idle stream does without.
    final var details: StreamDetails?
    final var owner: (any StreamOwner)?

    // What others may read is stored apart: only then is no look at it checked at run time.

    final var received = 0
    final var sent = 0
    /// The number of bytes that have come from the peer, including bytes that have not been read yet.
    public final var bytesReceived: Int { received }
    /// The number of bytes that have left this side's queue.
    public final var bytesSent: Int { sent }

    // Thousands of streams may be idle: what takes a byte stands together, here and in the subclasses.

    /// The streams of bytes that this stream has.
    package final let sides: StreamSides
    final var isReading = false
    /// Whether the peer has finished: nothing will come any more.
    private(set) final var isAtEnd = false
    private final var hasReader = false
    final var phase = Phase.open
    /// The way this side ended the connection, if nothing ended it before.
    final var endedBy: Ending?
    /// Whether `close` waits for the peer's end.
    final var hearsPeerOut = false
    /// How far this side has answered the peer.
    final var exchange = Exchange.fresh
    package final var wasAnswered: Bool { exchange == .answered }

    enum Phase {
        case open
        /// `close` was called, and what is queued is being written.
        case flushing
        /// All is sent, and the peer knows. What it had begun to send is thrown away until it ends.
        case lingering
        /// The transport has been told to close.
        case closing
        case closed
    }

    enum Ending { case close, abort }

    enum WriteSide {
        case open
        case shuttingDown(Promise<Void>)
        case shutDown
        /// The stream has no write side.
        case absent
    }

    /// Creates a stream on `loop` over `transport`. `limits` have been validated.
    package init(
        loop: LoopCore, transport: any ByteTransport, limits: SharedLimits,
        sides: StreamSides = [.read, .write]
    ) {
        core = loop
        self.sides = sides
        if !sides.contains(.write) { writeSide = .absent }
        self.transport = transport
        shared = limits
        watchFromStart()
        if core.isObserved { core.tell(.opened(name)) }
    }

    deinit {
        guard phase == .open else { return }
        core.checkThread()
        watch?.leave()
        if isReadToEnd {
            closedPromise?.succeed()
            return transport.close(resetting: false)
        }
        closedPromise?.fail(StreamError.droppedUnclosed)
        transport.close(resetting: true)
        #if DEBUG
            _ = core.failed(StreamError.droppedUnclosed, of: Void.self)
        #endif
    }

    /// The name that the loop's observer gets.
    final var name: any CustomStringConvertible { self as? any CustomStringConvertible ?? "stream" }

    /// Whether the transport may be used.
    final var isConnected: Bool { phase != .closing && phase != .closed }

    /// The error that broke the connection, if one did.
    package final var breakage: (any Error)? { failure }
    package final var isOpen: Bool { phase == .open }
    /// Whether dropping the stream loses nothing: all that the peer sent has been read, or nobody waits for it any
    /// more.
    package final var isReadToEnd: Bool { isAtEnd && (!hasUnread || writeSide.isShutDown) }
    /// Whether this side has aborted the connection.
    package final var isAborted: Bool { endedBy == .abort }
    /// Whether nothing has broken the connection, and nothing can any more.
    package final var hasEndedWell: Bool { !isConnected && failure == nil }

    /// The error that reads and writes fail with, once they do.
    final var refusal: (any Error)? {
        guard phase != .open else { return nil }
        return endedBy != nil ? StreamError.connectionClosed : failure
    }

    /// Hands the stream to `owner`. Nothing of the stream is pending.
    package final func belong(to owner: any StreamOwner) { self.owner = owner }

    /// Keeps the stream alive as long as something is pending. A reader or an owner does that by itself.
    final func updateHold() {
        let isClosing = phase != .open && phase != .closed
        let isPending = isClosing || writeSide.isShuttingDown || outbound != nil
        let isNeeded = isPending && owner == nil
        if isNeeded != (hold != nil) { hold = isNeeded ? self : nil }
    }

    /// The reader that waits for bytes. It holds the stream, which keeps the stream alive while a read is pending.
    final var reader: Reader? {
        get { hasReader ? lastReader : nil }
        set {
            hasReader = newValue != nil
            let isKept = hasReader ? lastReader === newValue : lastReader is ChunkReads
            if !isKept { lastReader = newValue }
        }
    }

    /// The reader behind `read()`.
    final var chunkReads: ChunkReads { lastReader as? ChunkReads ?? ChunkReads() }

    final var inbound: InboundBuffer {
        if let buffer { return buffer }
        let buffer = InboundBuffer(isAtEnd: isAtEnd)
        self.buffer = buffer
        return buffer
    }

    final func noteEnd() {
        isAtEnd = true
        buffer?.isAtEnd = true
    }

    /// The number of bytes that have come and that nobody has read yet.
    final var unreadBytes: Int { buffer?.count ?? 0 }
    final var hasUnread: Bool { unreadBytes > 0 }

    /// Returns the failed future of an operation that this connection cannot carry out any more.
    final func refused<Value>(_ error: any Error) -> Future<Value> {
        core.failed(error).ignoreFailure()
    }

    /// Returns the failed future of an operation that makes no sense now.
    final func misused<Value>(_ error: StreamError, by operation: String) -> Future<Value> {
        core.failed(error, subject: "\(operation) of \(name)")
    }

    /// Returns a promise for a future with many holders: a request by one to cancel does not end it for the others.
    final func makeSharedPromise() -> Promise<Void> {
        let promise = core.makePromise(of: Void.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { .continue }
        return promise
    }
}

/// The owner of a stream. It holds the stream until it hears of its end, which takes less memory and time than
/// waiting for `closed`.
package protocol StreamOwner: AnyObject {
    /// Whether a stream counts as ended in order only when what it sent has been acknowledged.
    var wantsAcknowledgement: Bool { get }
    /// Called when all has been sent, and the stream waits only for the peer's end.
    func streamLingers(_ stream: ByteStream)
    /// Called once, when ``ByteStream/closed`` has completed.
    func streamDidClose(_ stream: ByteStream)
}

/// The streams of bytes that a `ByteStream` has: both, or one, as with a pipe.
package struct StreamSides: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = StreamSides(rawValue: 1)
    package static let write = StreamSides(rawValue: 2)
}

extension ByteStream.WriteSide {
    var isShuttingDown: Bool {
        if case .shuttingDown = self { true } else { false }
    }

    var isShutDown: Bool {
        if case .shutDown = self { true } else { false }
    }
}

@available(*, unavailable, message: "A stream belongs to its loop's thread; use loop.execute { … } there.")
extension ByteStream: Sendable {}
