public import FoundationEssentials
public import Futures

extension ByteStream {
    /// A sequence of the chunks of bytes from the peer: `for try await chunk in stream.chunks`. The sequence ends
    /// when the peer has finished sending.
    ///
    /// While the consumer is busy, the stream reads no further chunk, so a peer that sends too fast has to
    /// wait. The iteration throws the errors that ``read()`` fails with, including
    /// ``StreamError/connectionClosed`` after ``close(within:)``. At the end of the sequence, the stream
    /// stays open. If the consumer leaves its `for` loop by `break`, the bytes that follow stay readable.
    public var chunks: LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in .init(asking: ChunkAsker(self), on: core, next: readOrEnd) }
    }

    /// Returns a sequence of the lines from the peer: `for try await line in stream.lines()`. The sequence ends
    /// when the peer has finished sending.
    ///
    /// The elements and the errors are those of ``readLine(limit:)``. Everything else is the same as in
    /// ``chunks``.
    public func lines(limit: Int = 65_536) -> LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in
            guard limit >= 0 else { return .init(next: { self.readLine(limit: limit) }) }
            let asker = LineAsker(self, limit: limit)
            return .init(asking: asker, on: core, next: { self.readLine(limit: limit) })
        }
    }
}
