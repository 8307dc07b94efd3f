internal import FoundationEssentials
internal import Futures

/// The reader of `forEachMessage`. It takes all messages that have come, one after the other, without a future between
/// them.
final class MessageLoop: ChunkLoop {
    private var search: MessageSearch
    /// Passes the message that was found to the user's closure. Returns the future to wait for, or `nil`.
    private let handle: (RawSpan) throws -> Future<Void>?

    init(_ stream: ByteStream, _ search: MessageSearch, _ handle: @escaping (RawSpan) throws -> Future<Void>?)
    {
        self.search = search
        self.handle = handle
        super.init(stream)
    }

    /// Lends bytes that are exactly one message. Other bytes go through the buffer.
    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard waiting == nil, search.isWhole(bytes) else { return false }
        pass(bytes)
        return true
    }

    override func takeFromBuffer() -> Bool {
        do {
            guard let size = try search.nextSize(in: stream.inbound) else { return false }
            let (block, start) = stream.inbound.block(0)
            // Before the closure is called, which may read.
            stream.inbound.discard(size)
            pass(block.bytes.extracting(start..<start + size))
        } catch {
            end(.failure(error))
        }
        return true
    }

    @inline(__always)
    private func pass(_ message: RawSpan) {
        stream.watch?.bytesWereTaken()
        follow { try handle(message) }
    }

    override var subject: String? { "forEachMessage of \(stream.name)" }
}
