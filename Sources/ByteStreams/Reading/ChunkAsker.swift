internal import FoundationEssentials

/// Gets the chunks of a stream for a task that waits, without a future for each chunk.
final class ChunkAsker: StreamAsker {
    override func take(from buffer: InboundBuffer) -> Data? { buffer.takeBlock() }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        accept(data())
        return true
    }
}
