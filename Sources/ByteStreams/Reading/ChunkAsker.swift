internal import FoundationEssentials
internal import Futures

/// Gets chunk after chunk for a body that waits, without a future for each chunk.
final class ChunkAsker: Reader, ElementAsker {
    private let stream: ByteStream
    /// The source holds this object, and stops it before the source is released.
    @exclusivity(unchecked) private unowned(unsafe) var source: ElementSource<Data>!

    init(_ stream: ByteStream) { self.stream = stream }

    /// Gives the chunks to `source` from now on.
    func serve(_ source: ElementSource<Data>) { unsafe self.source = source }

    func ask() -> Bool {
        guard stream.reader == nil else { return false }
        if stream.hasUnread {
            guard let chunk = stream.takeBuffered({ $0.takeBlock() }) else { return false }
            unsafe source.deliver(chunk)
            return true
        }
        guard stream.refusal == nil, !stream.isAtEnd, stream.sides.contains(.read) else { return false }
        stream.setReader(self)
        return true
    }

    func stopAsking() { stream.remove(self) }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let chunk = data()
        stream.watch?.bytesWereTaken()
        stream.remove(self)
        unsafe source.deliver(chunk)
        return true
    }

    /// Ends the sequence. A request never leaves bytes in the buffer, so the peer has finished sending.
    override func inboundChanged() {
        stream.remove(self)
        unsafe source.end()
    }

    override func fail(_ error: any Error, byClose: Bool) { unsafe source.end(because: error) }
}
