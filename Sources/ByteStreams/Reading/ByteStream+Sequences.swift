public import FoundationEssentials
public import Futures

extension ByteStream {
    /// The peer's bytes as they come, until it has finished sending: `for try await chunk in stream.chunks`.
    ///
    /// While the consumer is busy, the peer is held back. Throws what ``read()`` fails with, including
    /// ``StreamError/connectionClosed`` after ``close(within:)``. The stream stays open at the end. What follows a
    /// `break` stays readable.
    public var chunks: LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in
            LoopSequence.AsyncIterator(next: { self.readOrEnd() })
        }
    }

    /// Returns a sequence of the peer's lines, as ``readLine(limit:)`` reads them, until it has finished sending.
    public func lines(limit: Int = 65_536) -> LoopSequence<Data> {
        LoopSequence(on: loop) { [self] in
            LoopSequence.AsyncIterator(next: { self.readLine(limit: limit) })
        }
    }
}
