internal import FoundationEssentials
internal import Futures

/// The object that waits for the bytes of a stream: a read, a `forEachChunk` or a pipe. A stream has at most
/// one reader.
class Reader: PromiseOwner {
    /// Whether the reader would take more bytes as soon as they come.
    var wantsBytes: Bool { true }
    /// Whether the reader waits for a message, after which another one may come.
    var readsMessages: Bool { true }
    /// Whether the stream keeps the reader, and uses it again.
    final var isKept = false
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

/// A reader that completes one future after the other, each with the next bytes. A stream uses one object for all such
/// reads in a row.
class SerialReads: Reader {
    /// The stream, while a read is pending. This reference keeps the stream alive, and the stream keeps this
    /// object alive.
    fileprivate final var stream: ByteStream?
    fileprivate final let promises = PromiseSeries()
    /// Whether the pending future is a `Future<Data?>`, and not a `Future<Data>`.
    fileprivate final var hasEnd = false

    override init() {
        super.init()
        promises.belong(to: self)
        isKept = true
    }

    /// Returns the future of the next read. `Chunk` is `Data?` if `hasEnd` is `true`, and `Data` otherwise.
    @inline(__always)
    final func next<Chunk>(of stream: ByteStream, _: Chunk.Type, hasEnd: Bool) -> Future<Chunk> {
        (self.stream, self.hasEnd) = (stream, hasEnd)
        return promises.next(of: Chunk.self, on: stream.core)
    }

    final override func cancellationRequested() { end() }

    final override func fail(_ error: any Error, byClose: Bool) {
        stream = nil
        promises.failUnreported(error)
    }

    fileprivate final func end() {
        stream.take()?.remove(self)
    }
}

/// The reader of `read()`. These are by far the most frequent reads, so the reader bypasses the buffer.
final class ChunkReads: SerialReads {
    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let data = data()
        stream?.watch?.bytesWereTaken()
        end()
        if hasEnd { promises.succeed(Optional(data)) } else { promises.succeed(data) }
        return true
    }

    /// Completes the read at the end of the stream, or with bytes that were left to this turn. Otherwise a pending read
    /// never leaves bytes in the buffer.
    override func inboundChanged() {
        if let stream, stream.hasUnread {
            let chunk = stream.inbound.takeBlock()
            _ = receive(chunk.bytes) { chunk }
            return
        }
        end()
        if hasEnd { promises.succeed(Data?.none) } else { promises.succeed(Data()) }
    }
}

/// The reader of messages that are not complete when their reads begin.
final class MessageReads: SerialReads {
    /// The rule of the pending read.
    var framing: (any Framing)!

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard stream?.buffer?.longLine == nil else { return false }
        guard let message = framing.message(ofWhole: bytes, orAs: data) else { return false }
        succeed(message)
        return true
    }

    override func inboundChanged() {
        guard let stream else { return }
        do {
            if let message = try framing.take(from: stream.inbound) { succeed(message) }
        } catch {
            stream.remove(self)
            promises.fail(error)
            // Code that runs within the failure may already read again.
            if stream.reader !== self { self.stream = nil }
        }
    }

    private func succeed(_ message: Data?) {
        stream?.watch?.bytesWereTaken()
        end()
        if hasEnd { promises.succeed(message) } else { promises.succeed(message!) }
    }

    override var readsMessages: Bool { !(framing is EverythingLeft) }

    override var subject: String? { stream.map { "a read of \($0.name)" } }
}
