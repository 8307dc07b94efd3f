internal import FoundationEssentials
internal import Futures

/// A reader that takes chunk after chunk, and may wait for a future before it takes the next chunk. It is not
/// generic: the runtime would have to look up a generic type for each connection.
class ChunkReader: Reader {
    final let stream: ByteStream
    /// The future for which the reader waits before it takes the next chunk.
    final var waiting: Future<Void>?

    init(_ stream: ByteStream) { self.stream = stream }

    /// Takes a chunk, either as the span or as the data that `chunk` returns.
    func take(_ bytes: RawSpan, orAs chunk: () -> Data) {}

    /// Called when all bytes have been taken and the peer has finished sending.
    func reachedEnd() {}

    /// Takes a chunk out of the buffer, which has bytes. Returns `false` if the reader needs more bytes.
    func takeFromBuffer() -> Bool {
        let chunk = stream.inbound.takeBlock()
        handle(chunk.bytes) { chunk }
        return true
    }

    final override var wantsBytes: Bool { waiting == nil }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard waiting == nil else { return false }
        stream.awaitsBytes = false
        handle(bytes, orAs: data)
        awaitMore()
        return true
    }

    /// Notes that the reader waits for bytes again, unless it waits for a future or has been removed.
    @inline(__always)
    final func awaitMore() { stream.awaitsBytes = waiting == nil && stream.hasReader }

    final override func inboundChanged() { run() }

    /// Takes the bytes that have already come in a later callback. Does nothing if no bytes have come.
    final func runLater() {
        if stream.hasUnread || stream.isAtEnd { stream.core.later { self.run() } }
    }

    /// Takes chunks from the buffer until the reader waits, until no bytes are left, or until the turn has had its share.
    final func run() {
        repeat {
            guard waiting == nil, stream.reader === self else { return }
            stream.awaitsBytes = false
            guard stream.hasUnread, takeFromBuffer() else { return bytesRanOut() }
        } while !stream.hasUnread || !stream.core.spendsTurn()
        if waiting == nil, stream.reader === self { stream.giveWay() }
    }

    @inline(__always)
    private final func handle(_ bytes: RawSpan, orAs chunk: () -> Data) {
        stream.watch?.bytesWereTaken()
        take(bytes, orAs: chunk)
    }

    private final func bytesRanOut() {
        if let refusal = stream.refusal {
            stream.remove(self)
            fail(refusal, byClose: false)
        } else if stream.isAtEnd {
            reachedEnd()
        } else {
            stream.awaitsBytes = true
            stream.startReading()
            stream.watchRead()
            stream.noteIdle()
        }
    }
}
