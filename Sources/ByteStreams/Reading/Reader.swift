internal import FoundationEssentials
internal import Futures

/// The one that waits for a stream's bytes: a read, or a `forEachChunk`. A stream has at most one.
class Reader: PromiseOwner {
    /// Whether the reader would take more bytes as soon as they come.
    var wantsBytes: Bool { true }
    /// Takes bytes that need not go through the buffer, which is empty: as they are, or as `data` (see
    /// ``ByteTransport``). Returns `false`, before it calls `data`, if the bytes have to go through the buffer.
    func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool { false }
    /// Called when bytes, or the end, have come into the buffer.
    func inboundChanged() {}
    /// Called when the connection is gone, or will be. `byClose`: because this side has called `close`.
    func fail(_ error: any Error, byClose: Bool) {}
    /// Called when the bytes are not needed any more.
    func cancellationRequested() {}
    var subject: String? { nil }
}

/// A read of a frame that was not complete when the read began.
final class PendingRead<F: Framing>: Reader {
    private let stream: ByteStream
    private var framing: F
    private let promise: OwnedPromise<F.Output>

    init(_ stream: ByteStream, _ framing: F) {
        self.stream = stream
        self.framing = framing
        promise = OwnedPromise(on: stream.core)
        super.init()
        promise.belong(to: self)
    }

    var future: Future<F.Output> { promise.future }

    override func inboundChanged() {
        do {
            guard let output = try framing.take(from: stream.inbound) else { return }
            stream.watch?.bytesWereTaken()
            stream.remove(self)
            promise.succeed(output)
        } catch {
            stream.remove(self)
            promise.fail(error)
        }
    }

    override func cancellationRequested() { stream.remove(self) }

    override var subject: String? { "a read of \(stream.name)" }

    override func fail(_ error: any Error, byClose: Bool) {
        promise.future.ignoreFailure()
        promise.fail(error)
    }
}

/// A read of whatever comes next, one after the other. It is by far the most frequent read. So it is not generic,
/// bypasses the buffer, and is one object for all such reads of a stream.
final class ChunkReads: Reader {
    /// Set as long as a read is pending. It keeps the stream alive, which keeps this object alive.
    private var stream: ByteStream?
    private let promises = PromiseSeries()
    /// Whether the pending read completes with `nil` at the end, instead of no bytes.
    private var hasEnd = false

    override init() {
        super.init()
        promises.belong(to: self)
    }

    func next(of stream: ByteStream) -> Future<Data> {
        (self.stream, hasEnd) = (stream, false)
        return promises.next(of: Data.self, on: stream.core)
    }

    func nextOrEnd(of stream: ByteStream) -> Future<Data?> {
        (self.stream, hasEnd) = (stream, true)
        return promises.next(of: Data?.self, on: stream.core)
    }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let data = data()
        stream?.watch?.bytesWereTaken()
        end()
        if hasEnd { promises.succeed(Optional(data)) } else { promises.succeed(data) }
        return true
    }

    /// Ends the read: it would have taken any buffered bytes, so this is the end.
    override func inboundChanged() {
        end()
        if hasEnd { promises.succeed(Data?.none) } else { promises.succeed(Data()) }
    }

    override func cancellationRequested() { end() }

    override func fail(_ error: any Error, byClose: Bool) {
        stream = nil
        promises.failUnreported(error)
    }

    private func end() {
        stream.take()?.remove(self)
    }
}
