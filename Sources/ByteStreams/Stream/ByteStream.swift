public import Futures

/// A connection as two streams of bytes: what the peer sends is read, what is written goes to the peer.
///
/// A stream belongs to its loop, and may only be used on that loop's thread; elsewhere its methods trap. While
/// a read, a write or a close is pending the stream keeps itself alive. Otherwise releasing the last reference
/// closes a connection that has been read to its end, and aborts any other one, which in debug builds is reported as
/// ``StreamError/droppedUnclosed``.
///
/// The failure that ends a connection reaches ``closed``, whatever is pending, and every later call. Nowhere does
/// it count as unhandled.
open class ByteStream {
    // Touched only on the loop's thread.

    public final var loop: EventLoop { core }
    package final let core: LoopCore
    public final var limits: StreamLimits { shared.limits }
    final let shared: SharedLimits
    package final let transport: any ByteTransport
    /// What nobody has read yet, made for the first that has to wait there; framing reads see the end there too.
    private final var buffer: InboundBuffer?
    /// Who waits for bytes, or what `read()` uses again.
    private final var lastReader: Reader?
    final var writeSide = WriteSide.open
    final var watch: StreamWatch?
    /// What a stream that is idle does without.
    final var details: StreamDetails?
    final var owner: (any StreamOwner)?

    // What others may read is stored apart: only then is no look at it checked at run time.

    final var received = 0
    final var sent = 0
    /// How many bytes have come from the peer, read or not.
    public final var bytesReceived: Int { received }
    /// How many bytes have left this side's queue.
    public final var bytesSent: Int { sent }

    // Thousands of streams may be idle: what takes a byte stands together, here and in the subclasses.

    /// Which of the two streams of bytes there are.
    package final let sides: StreamSides
    final var isReading = false
    /// The peer has finished: nothing will come any more.
    private(set) final var isAtEnd = false
    private final var hasReader = false
    final var phase = Phase.open
    /// What this side has ended it by, if nothing ended it before.
    final var endedBy: Ending?
    /// `close` waits for the peer's end.
    final var hearsPeerOut = false
    /// What of the peer's has been answered.
    final var exchange = Exchange.fresh
    package final var wasAnswered: Bool { exchange == .answered }

    enum Phase {
        case open
        /// `close` was called, and what is queued is being written.
        case flushing
        /// All is sent, and the peer knows; what it had begun to send is thrown away until it ends.
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
        /// There is none.
        case absent
    }

    /// `limits` have been validated.
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

    /// What the observer of the loop gets.
    final var name: any CustomStringConvertible { self as? any CustomStringConvertible ?? "stream" }

    /// Whether the transport may be used.
    final var isConnected: Bool { phase != .closing && phase != .closed }

    /// What broke the connection, if something did.
    package final var breakage: (any Error)? { failure }
    package final var isOpen: Bool { phase == .open }
    /// Whether all that the peer sent has been read, or nobody waits for it any more: to drop the stream loses nothing.
    package final var isReadToEnd: Bool { isAtEnd && (!hasUnread || writeSide.isShutDown) }
    /// Whether this side has cut it off.
    package final var isAborted: Bool { endedBy == .abort }
    /// Whether nothing can break it any more, nor has.
    package final var hasEndedWell: Bool { !isConnected && failure == nil }

    /// What reads and writes fail with, once they do.
    final var refusal: (any Error)? {
        guard phase != .open else { return nil }
        return endedBy != nil ? StreamError.connectionClosed : failure
    }

    /// From now on `owner` has the stream, of which nothing is pending.
    package final func belong(to owner: any StreamOwner) { self.owner = owner }

    /// Keeps the stream alive as long as something is pending. A reader does that by itself, and so does an owner.
    final func updateHold() {
        let isClosing = phase != .open && phase != .closed
        let isPending = isClosing || writeSide.isShuttingDown || outbound != nil
        let isNeeded = isPending && owner == nil
        if isNeeded != (hold != nil) { hold = isNeeded ? self : nil }
    }

    /// Who waits for bytes. Holds the stream, which so keeps itself alive while a read is pending.
    final var reader: Reader? {
        get { hasReader ? lastReader : nil }
        set {
            hasReader = newValue != nil
            let isKept = hasReader ? lastReader === newValue : lastReader is ChunkReads
            if !isKept { lastReader = newValue }
        }
    }

    /// What `read()` reads with.
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

    /// How many bytes have come that nobody has read yet.
    final var unreadBytes: Int { buffer?.count ?? 0 }
    final var hasUnread: Bool { unreadBytes > 0 }

    /// A future of an operation that this connection cannot carry out any more.
    final func refused<Value>(_ error: any Error) -> Future<Value> {
        core.failed(error).ignoreFailure()
    }

    /// A future of an operation that makes no sense now.
    final func misused<Value>(_ error: StreamError, by operation: String) -> Future<Value> {
        core.failed(error, subject: "\(operation) of \(name)")
    }

    /// A promise whose future many may hold: nobody's request to cancel ends it for the others.
    final func makeSharedPromise() -> Promise<Void> {
        let promise = core.makePromise(of: Void.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { .continue }
        return promise
    }
}

/// Who has a stream: holds it until it hears of its end. That takes less memory and time than to wait for `closed`.
package protocol StreamOwner: AnyObject {
    /// Whether what was sent has to be acknowledged before a stream counts as ended in order.
    var wantsAcknowledgement: Bool { get }
    /// Called when all has been sent, and only the peer's end is waited for.
    func streamLingers(_ stream: ByteStream)
    /// Called once, when ``ByteStream/closed`` has completed.
    func streamDidClose(_ stream: ByteStream)
}

/// Which of its two streams of bytes a `ByteStream` has: a pipe has one of them.
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
