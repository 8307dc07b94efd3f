internal import FoundationEssentials
internal import Futures

/// The reader of `forEachMessage`. It takes all messages that have come, one after the other, without a future between
/// them.
final class MessageLoop: ChunkLoop {
    private let search: MessageSearch
    private var early: MessageSearch.Early?
    /// Passes the message that was found to the user's closure. Returns the future to wait for, or `nil`.
    private let handle: (RawSpan) throws -> Future<Void>?

    init(_ stream: ByteStream, _ search: MessageSearch, _ handle: @escaping (RawSpan) throws -> Future<Void>?)
    {
        self.search = search
        let values = stream.core.carriedValues
        self.handle = values.isEmpty ? handle : { message in try values.during { try handle(message) } }
        super.init(stream)
    }

    /// Lends bytes that are exactly one message. Other bytes go through the buffer.
    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard waiting == nil else { return false }
        let (isWhole, early) = search.searchEarly(bytes)
        // The decoder may have closed the stream, or cancelled this loop.
        guard stream.reader === self else { return false }
        guard isWhole else {
            self.early = early
            return false
        }
        stream.awaitsBytes = false
        pass(bytes)
        awaitMore()
        return true
    }

    /// Takes the messages of the first block, until the loop has to wait, has been removed, or has had its share.
    override func takeFromBuffer() -> Bool {
        do {
            let buffer = stream.inbound
            var early = early.take()
            repeat {
                let (block, start) = buffer.block(0)
                var bytes = block.bytes.extracting(droppingFirst: start)
                while let size = try search.size(in: bytes, of: buffer, early) {
                    guard stream.reader === self else { return true }
                    early = nil
                    // Before the closure is called, which may read.
                    buffer.drop(size)
                    let taken = buffer.taken
                    pass(bytes.extracting(first: size))
                    bytes = bytes.extracting(droppingFirst: size)
                    // A host may run its loop within the closure, and messages of this block may be taken there.
                    guard waiting == nil, stream.reader === self, buffer.taken == taken, !bytes.isEmpty,
                        !stream.core.spendsTurn()
                    else { return true }
                }
                guard stream.reader === self else { return true }
            } while try search.goesOn(in: buffer)
            return false
        } catch {
            end(.failure(error))
            return true
        }
    }

    @inline(__always)
    private func pass(_ message: RawSpan) {
        stream.watch?.bytesWereTaken()
        follow { try handle(message) }
    }

    override var subject: String? { "forEachMessage of \(stream.name)" }
}
