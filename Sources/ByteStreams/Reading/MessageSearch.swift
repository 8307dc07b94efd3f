internal import Futures

/// The search of one reader for the ends of messages.
@usableFromInline
struct MessageSearch {
    private let maximumSize: Int
    private let find: (_ bytes: RawSpan, _ isAtEnd: Bool) throws -> Int?

    /// The result of a search before the bytes were put into the buffer.
    typealias Early = Result<Int?, any Error>

    // Inlined, so that the optimizer knows the type of the decoder.
    @inlinable
    init<Decoder: StreamDecoder>(_ state: DecoderState<Decoder>) {
        self.init(maximumSize: state.maximumSize) { try state.find($0, isAtEnd: $1) }
    }

    @usableFromInline
    init(maximumSize: Int, _ find: @escaping (_ bytes: RawSpan, _ isAtEnd: Bool) throws -> Int?) {
        self.maximumSize = maximumSize
        self.find = find
    }

    /// Throws `FutureError.invalidArgument` if no message could ever be read.
    func validate(for operation: String) throws {
        try requireArgument(
            maximumSize > 0,
            "\(operation) was given a decoder with a maximumSize of \(maximumSize); give one or more")
    }

    /// Searches `bytes` while the buffer is empty. If they are not one whole message and nothing else, the caller puts them
    /// into the buffer, and keeps the result until it looks there.
    @inline(__always)
    func searchEarly(_ bytes: RawSpan) -> (isWhole: Bool, early: Early) {
        do {
            let size = try size(in: bytes, isAtEnd: false)
            return (size == bytes.byteCount, .success(size))
        } catch {
            return (false, .failure(error))
        }
    }

    /// Returns the size of the message at the start of `bytes`, the unread bytes of the first block of `buffer`.
    /// Returns `nil` if `bytes` do not hold the whole message.
    @inline(__always)
    func size(in bytes: RawSpan, of buffer: InboundBuffer, _ early: Early?) throws -> Int? {
        if let size = try early?.get() { return size }
        // The early search has seen all bytes that have come.
        if buffer.isEmpty || early != nil && !buffer.isAtEnd { return nil }
        return try size(in: bytes, isAtEnd: buffer.isAtEnd && buffer.blockCount == 1)
    }

    /// Puts the next block of `buffer` behind the first, and returns whether there was one. Throws
    /// ``StreamError/unexpectedEnd(received:)`` if a message has begun, and no more bytes will come.
    func goesOn(in buffer: InboundBuffer) throws -> Bool {
        if buffer.joinBlocks() { return true }
        guard buffer.isAtEnd, !buffer.isEmpty else { return false }
        throw StreamError.unexpectedEnd(received: buffer.takeAll())
    }

    private func size(in bytes: RawSpan, isAtEnd: Bool) throws -> Int? {
        let size = try find(bytes, isAtEnd)
        guard size ?? bytes.byteCount <= maximumSize else {
            throw StreamError.limitExceeded(limit: maximumSize)
        }
        if let size, size < 1 || size > bytes.byteCount {
            trap(
                "A StreamDecoder took \(size) of \(bytes.byteCount) bytes. Return a byteCount from 1 to the number of "
                    + "bytes that it was given.")
        }
        return size
    }
}
