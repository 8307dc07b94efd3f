/// The rule that finds the messages of a protocol in the bytes of a stream.
///
/// ``ByteStream/forEachMessage(decodedBy:_:)``, ``ByteStream/readMessage(decodedBy:)`` and
/// ``ByteStream/messages(decodedBy:)`` use a decoder. The decoder looks at bytes in the memory of the stream, and copies
/// nothing. It describes what it has found by a frame, for example by the ranges of the parts. If the frame says
/// everything, it is the message, too. If the message has bytes of its own, implement ``message(from:_:)``: only the reads
/// that return messages call it.
///
/// ```swift
/// struct PairDecoder: StreamDecoder {    // messages of two bytes
///     mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Range<Int>>? {
///         bytes.byteCount < 2 ? nil : DecodedFrame(0..<2, byteCount: 2)
///     }
/// }
/// ```
public protocol StreamDecoder<Message> {
    /// The description of a message while its bytes are in the memory of the stream.
    associatedtype Frame
    /// The message as a value that can be kept.
    associatedtype Message = Frame

    /// The most bytes that a message may have, with everything that frames it. 65,536 unless you implement this
    /// property. A longer message fails the read with ``StreamError/limitExceeded(limit:)``.
    var maximumSize: Int { get }

    /// Returns the frame of the message that begins with the first of `bytes`. Returns `nil` if the message is not
    /// complete.
    ///
    /// `bytes` holds at least one byte, and may go on after the message. After `nil`, the stream calls this function again
    /// with the same bytes and more behind them. So remember how far you have looked: otherwise, a peer that sends byte by
    /// byte makes you look at each byte again and again. After a frame, the next call begins with the next message.
    ///
    /// `isAtEnd` is `true` if the peer has finished sending, and `bytes` are all that is left. If the message is not complete
    /// then, the read fails with ``StreamError/unexpectedEnd(received:)``. A read also fails with each error that this
    /// function throws, and the bytes stay readable. Traps if the frame has no bytes, or more than `bytes`.
    ///
    /// This function may write to the stream. It cannot read from it: such a read fails with
    /// ``StreamError/readPending``. If it closes or aborts the stream, or cancels the read, the frame is ignored.
    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Frame>?

    /// Returns the message that `frame` describes, with copies of the `bytes` that belong to the message.
    func message(from frame: Frame, _ bytes: RawSpan) -> Message
}

extension StreamDecoder {
    public var maximumSize: Int { 65_536 }
}

extension StreamDecoder where Message == Frame {
    @inlinable
    public func message(from frame: Frame, _ bytes: RawSpan) -> Message { frame }
}

/// A frame that a ``StreamDecoder`` has found, and the number of its bytes.
public struct DecodedFrame<Frame> {
    public let frame: Frame
    /// The number of bytes that the stream removes: the whole message, with everything that frames it.
    public let byteCount: Int

    @inlinable
    public init(_ frame: Frame, byteCount: Int) {
        self.frame = frame
        self.byteCount = byteCount
    }
}
