internal import FoundationEssentials
internal import Futures

/// The search of one reader for the ends of messages.
@usableFromInline
struct MessageSearch {
    private let maximumSize: Int
    private let find: (_ bytes: RawSpan, _ isAtEnd: Bool) throws -> Int?
    /// What the search has found in bytes that are in the buffer by now.
    private var early: Result<Int?, any Error>?

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

    /// Returns whether `bytes` are one whole message and nothing else. Called while the buffer is empty. If not, the
    /// caller puts `bytes` into the buffer.
    @inline(__always)
    mutating func isWhole(_ bytes: RawSpan) -> Bool {
        do {
            let size = try size(in: bytes, isAtEnd: false)
            if size == bytes.byteCount { return true }
            early = .success(size)
        } catch {
            early = .failure(error)
        }
        return false
    }

    /// Returns the number of bytes of the next message, which are then in the first block of `buffer`. Returns `nil` if
    /// more bytes have to come. Throws ``StreamError/unexpectedEnd(received:)`` if none will.
    mutating func nextSize(in buffer: InboundBuffer) throws -> Int? {
        if let early = early.take() { return try early.get() }
        guard !buffer.isEmpty else { return nil }
        repeat {
            let (block, start) = buffer.block(0)
            let isAtEnd = buffer.isAtEnd && buffer.blockCount == 1
            if let size = try size(in: block.bytes.extracting(droppingFirst: start), isAtEnd: isAtEnd) {
                return size
            }
        } while buffer.joinBlocks()
        guard buffer.isAtEnd else { return nil }
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
