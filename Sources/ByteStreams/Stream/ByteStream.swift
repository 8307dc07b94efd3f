public import Futures

/// A connection with a peer: this side reads the bytes that the peer sends, and writes the bytes that the peer
/// gets.
///
/// A stream belongs to its loop. Use a stream only on that loop's thread: on other threads its methods trap. A
/// stream keeps itself alive while a read, a write or a close is pending. Otherwise, releasing the last reference
/// ends the connection. If the stream has been read to its end, that release closes the connection. If not, that
/// release aborts the connection, and a debug build reports ``StreamError/droppedUnclosed``.
///
/// An error of the system or of this library can break the connection. Then ``closed``, all pending futures and
/// all later writes fail with that error. Later reads first return the bytes that have come, and then fail with
/// that error, too. Such a failure never counts as unhandled.
open class ByteStream {
    // Touched only on the loop's thread.

    public final var loop: EventLoop { core }
    package final let core: LoopCore
    public final var limits: StreamLimits { shared.limits }
    final let shared: SharedLimits
    package final let transport: any ByteTransport
    /// The bytes that have come and have not been read. Made when the first bytes have to wait. Reads of a
    /// message find out from this buffer whether the peer has finished sending.
    final var buffer: InboundBuffer?
    /// The reader that waits for bytes. If no reader waits, the reader that the next `read()` uses again.
    private final var lastReader: Reader?
    final var watch: StreamWatch?
    /// The properties that an idle stream does not need.
    final var details: StreamDetails?
    final var owner: (any StreamOwner)?
    /// The wait for the outcome of the connection's handler. `nil` if the handler owns the connection.
    package final var handling: OutcomeWait?

    // The public counts are computed from internal ones: Swift checks exclusive access to a stored public
    // property at run time, even when only this module reads it.

    final var received = 0
    final var sent = 0
    /// The number of bytes that have come from the peer, including bytes that have not been read yet.
    public final var bytesReceived: Int { received }
    /// The number of written bytes that the system has accepted.
    public final var bytesSent: Int { sent }

    // Thousands of streams may be idle, so memory counts: properties of one byte stand together, here and in
    // the subclasses.

    /// The directions in which this stream carries bytes.
    package final let sides: StreamSides
    final var isReading = false
    /// Whether the reader takes the bytes in the buffer only in the next turn, so that others get their turn.
    final var isGivingWay = false
    /// Whether the peer has finished sending.
    final var isAtEnd = false
    private(set) final var hasReader = false
    /// Whether a reader waits for bytes while its closure does not run. Bytes written then are not an answer.
    final var awaitsBytes = false
    /// Whether anything has ever been written while a reader waited.
    final var hasPushed = false
    final var phase = Phase.open
    final var writeSide = WriteSide.open
    final var isGathering = false
    /// The way in which this side ended the connection. `nil` if this side did not, or if an error broke the
    /// connection before.
    final var endedBy: Ending?
    /// Whether `close` waits until the peer has finished sending.
    final var hearsPeerOut = false
    /// Whether this side has answered the last bytes of the peer.
    final var exchange = Exchange.fresh
    /// Whether a draining server may half-close this connection when its handler waits for nothing but the next message.
    /// `true` unless you set it. After a half-close, the peer reads the end of the stream, and this side can still read.
    ///
    /// The server looks at what the handler's future waits for. It cannot know that a message goes on in the next read, or
    /// that this side will write without being asked. In these cases, set this property to `false`, and end the connection
    /// when ``draining`` completes. Writes after the half-close fail with ``StreamError/drained``.
    public final var endsWhenIdle = true
    /// Whether the server of this connection is draining. If so, the handler should finish the current message and close the
    /// connection.
    public final var isDraining: Bool { drain != .none }
    final var drain = Drain.none

    enum Phase {
        case open
        /// `close` was called, and the queued bytes are being written.
        case flushing
        /// All bytes have been sent, and this side has told the peer that nothing follows. The stream throws
        /// away what the peer still sends, and waits until the peer has finished sending.
        case lingering
        /// The stream has asked the transport to close.
        case closing
        case closed
    }

    enum Ending { case close, abort }

    enum WriteSide {
        case open
        /// `shutdownWrite` was called, but the end of the data has not been sent to the peer yet.
        case shuttingDown
        case shutDown
        /// The stream has no write side.
        case absent
    }

    /// Creates a stream on `loop` over `transport`. The caller has validated `limits`.
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
        releaseScope()
        guard phase == .open else { return }
        core.checkThread()
        watch?.leave()
        if isReadToEnd {
            details?.closedPromise?.succeed()
            return transport.close(resetting: false)
        }
        details?.closedPromise?.fail(StreamError.droppedUnclosed)
        transport.close(resetting: true)
        #if DEBUG
            let subject = self as? any CustomStringConvertible ?? "a stream"
            core.reportUnhandled(StreamError.droppedUnclosed, of: "\(subject)")
        #endif
    }

    /// The name of the stream in the events that the loop's observer gets.
    package final var name: any CustomStringConvertible { self as? any CustomStringConvertible ?? "stream" }

    /// Whether the transport may be used.
    final var isConnected: Bool { phase != .closing && phase != .closed }

    package final var isOpen: Bool { phase == .open }
    /// Whether no bytes that matter are lost when the stream is dropped. The peer has finished sending, and
    /// either all its bytes have been read, or this side has finished sending, too.
    package final var isReadToEnd: Bool { isAtEnd && (!hasUnread || writeSide == .shutDown) }
    /// Whether this side has aborted the connection.
    package final var isAborted: Bool { endedBy == .abort }
    /// Whether the stream has asked the transport to close, and no error broke the connection.
    package final var hasEndedWell: Bool { !isConnected && failure == nil }

    /// The error with which reads and writes fail now. `nil` while the stream is open.
    final var refusal: (any Error)? {
        guard phase != .open else { return nil }
        return endedBy != nil ? StreamError.connectionClosed : failure
    }

    /// The number of bytes of the peer that have been read: those of whole messages, if the reader reads messages.
    package final var takenBytes: Int { received - unreadBytes }

    /// Hands the stream to `owner`, which keeps it alive. The caller makes sure that nothing of the stream is
    /// pending.
    package final func belong(to owner: any StreamOwner) { self.owner = owner }

    /// Keeps the stream alive as long as a write, a shutdown or a close is pending. A stream with an owner is
    /// kept alive by the owner, and a stream with a pending read by the reader.
    final func updateHold() {
        let isClosing = phase != .open && phase != .closed
        let isPending = isClosing || writeSide == .shuttingDown || outbound != nil
        if isPending, owner == nil {
            madeDetails.hold = self
        } else if let details, details.hold != nil {
            details.hold = nil
        }
    }

    /// The reader that waits for bytes. The reader holds the stream. So the stream stays alive while a read
    /// is pending.
    final var reader: Reader? {
        get { hasReader ? lastReader : nil }
        set {
            hasReader = newValue != nil
            awaitsBytes = hasReader
            let isKept = hasReader ? lastReader === newValue : lastReader?.isKept == true
            if !isKept { lastReader = newValue }
        }
    }

    /// The reader that completes calls of `read()`. It is new if the last reader was of another kind.
    final var chunkReads: ChunkReads { lastReader as? ChunkReads ?? ChunkReads() }

    /// The reader that completes reads of messages. It is new if the last reader was of another kind.
    final var messageReads: MessageReads { lastReader as? MessageReads ?? MessageReads() }

    final var inbound: InboundBuffer {
        if let buffer { return buffer }
        let buffer = InboundBuffer(isAtEnd: isAtEnd)
        self.buffer = buffer
        return buffer
    }

    /// The number of bytes that have come and have not been read.
    final var unreadBytes: Int { buffer?.count ?? 0 }
    final var hasUnread: Bool { unreadBytes > 0 }

    /// Whether `future`, which a closure of this stream has returned, has succeeded.
    // Not inlined: so the loop is borrowed from `self`, and no reference is counted.
    @inline(never)
    final func hasSucceeded(_ future: Future<Void>) -> Bool { future.hasSucceeded(on: core) }

    /// Returns a future that has failed with `error`, because the connection has ended. The failure never
    /// counts as unhandled.
    final func refused<Value>(_ error: any Error) -> Future<Value> {
        core.failed(error).ignoreFailure()
    }

    /// Returns a future that has failed with `error`, because the user called `operation` at a wrong time.
    final func misused<Value>(_ error: StreamError, by operation: String) -> Future<Value> {
        core.failed(error, subject: "\(operation) of \(name)")
    }

    /// Returns the failed future of `operation`, which reads, if the stream cannot be read now. Otherwise
    /// returns `nil`.
    final func unreadable<Value>(by operation: String) -> Future<Value>? {
        guard reader == nil else { return misused(.readPending, by: operation) }
        if !hasUnread, let refusal { return refused(refusal) }
        return sides.contains(.read) ? nil : misused(.notReadable, by: operation)
    }
}

/// The owner of a stream. The owner holds the stream until the stream tells it that the connection has ended.
/// This takes less memory and time than a `closed` future.
package protocol StreamOwner: AnyObject {
    /// Whether a closing stream waits until the peer has acknowledged all bytes.
    var wantsAcknowledgement: Bool { get }
    /// Called when `stream` has sent everything, and waits only until the peer has finished sending.
    func streamLingers(_ stream: ByteStream)
    /// Called once, after ``ByteStream/closed`` has completed.
    func streamDidClose(_ stream: ByteStream)
}

/// The directions in which a `ByteStream` carries bytes: both or, for an end of a pipe, one.
package struct StreamSides: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = StreamSides(rawValue: 1)
    package static let write = StreamSides(rawValue: 2)
}

@available(
    *, unavailable, message: "A stream belongs to its loop's thread; go there with loop.execute { … }."
)
extension ByteStream: Sendable {}
