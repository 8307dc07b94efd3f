internal import FoundationEssentials
internal import Futures

/// The object that waits for the bytes of a stream: a read, a `forEachChunk` or a pipe. A stream has at most
/// one reader.
class Reader: PromiseOwner {
    /// Whether the reader would take more bytes as soon as they come.
    var wantsBytes: Bool { true }
    /// Takes bytes while the buffer is empty, either as the span or as the data that `data` returns (see
    /// ``ByteTransport``). Returns `false`, without a call of `data`, if the stream has to put the bytes into
    /// the buffer.
    func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool { false }
    /// Called when bytes have come into the buffer, or when the peer has finished sending.
    func inboundChanged() {}
    /// Called when the connection has ended or begins to end. `byClose` is `true` if this side has called
    /// `close`.
    func fail(_ error: any Error, byClose: Bool) {}
    /// Called when the user cancels the future of the reader.
    func cancellationRequested() {}
    var subject: String? { nil }
}

/// A read of a message that was not complete when the read began.
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

/// The reader of `read()`: it completes one future after the other, each with the bytes that come next. These
/// are by far the most frequent reads. So the reader is not generic, bypasses the buffer, and is one object
/// for all such reads of a stream.
final class ChunkReads: Reader {
    /// The stream, while a read is pending. This reference keeps the stream alive, and the stream keeps this
    /// object alive.
    private var stream: ByteStream?
    private let promises = PromiseSeries()
    /// Whether the pending read completes with `nil`, and not with empty data, when the peer has finished
    /// sending.
    private var hasEnd = false

    override init() {
        super.init()
        promises.belong(to: self)
    }

    /// Returns the future of the next read. `Chunk` is `Data?` if `hasEnd` is `true`, and `Data` otherwise.
    @inline(__always)
    func next<Chunk>(of stream: ByteStream, _: Chunk.Type, hasEnd: Bool) -> Future<Chunk> {
        (self.stream, self.hasEnd) = (stream, hasEnd)
        return promises.next(of: Chunk.self, on: stream.core)
    }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let data = data()
        stream?.watch?.bytesWereTaken()
        end()
        if hasEnd { promises.succeed(Optional(data)) } else { promises.succeed(data) }
        return true
    }

    /// Completes the read at the end of the bytes. A pending read never leaves bytes in the buffer, so the
    /// peer has finished sending.
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
