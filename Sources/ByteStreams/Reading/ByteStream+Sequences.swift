public import FoundationEssentials
public import Futures

extension ByteStream {
    /// The peer's bytes as they come, until the peer has finished sending: `for try await chunk in stream.chunks`.
    ///
    /// While the consumer is busy, the peer is held back. The sequence throws what ``read()`` fails with, including
    /// ``StreamError/connectionClosed`` after ``close(within:)``. At the end of the sequence, the stream stays open. If
    /// the consumer leaves its loop by `break`, the bytes that follow stay readable.
    public var chunks: LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in .init(next: { self.readOrEnd() }) }
    }

    /// Returns a sequence of the peer's lines, as ``readLine(limit:)`` reads them, until the peer has finished sending.
    public func lines(limit: Int = 65_536) -> LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in .init(next: { self.readLine(limit: limit) }) }
    }
}
