internal import FoundationEssentials
internal import Futures

/// The reader of `readMessage`, which is used once.
final class MessageRead<Message>: Reader {
    private let stream: ByteStream
    private let search: MessageSearch
    private var early: MessageSearch.Early?
    /// Makes the message from its bytes.
    private let message: (RawSpan) -> Message
    /// `nil` until the read has to wait.
    private var promise: OwnedPromise<Message?>?

    init(_ stream: ByteStream, _ search: MessageSearch, _ message: @escaping (RawSpan) -> Message) {
        self.stream = stream
        self.search = search
        self.message = message
    }

    /// Begins to wait for bytes.
    func begin() -> Future<Message?> {
        let promise = OwnedPromise<Message?>(on: stream.core)
        promise.belong(to: self)
        self.promise = promise
        stream.setReader(self)
        return promise.future
    }

    /// Takes a message that has already come. Is the stream's reader meanwhile, so that the decoder cannot read.
    func takeNow() throws -> Message?? {
        stream.reader = self
        return try stream.takeBuffered { _ in
            defer { if isReading { stream.reader = nil } }
            return try take()
        }
    }

    /// Whether this is still the reader: user code in the decoder may have closed the stream or cancelled the read.
    private var isReading: Bool { stream.reader === self }

    /// Takes a message out of the buffer. Returns `.some(nil)` if the peer has finished sending and no message is left, and
    /// `nil` if more bytes have to come, or if the decoder has ended the read.
    private func take() throws -> Message?? {
        let (buffer, early) = (stream.inbound, early.take())
        repeat {
            let (block, start) = buffer.block(0)
            let bytes = block.bytes.extracting(droppingFirst: start)
            let size = try search.size(in: bytes, of: buffer, early)
            guard isReading else { return nil }
            guard let size else { continue }
            let message = message(bytes.extracting(first: size))
            guard isReading else { return nil }
            buffer.discard(size)
            return message
        } while try search.goesOn(in: buffer)
        return buffer.isEmpty && buffer.isAtEnd ? .some(nil) : nil
    }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let (isWhole, early) = search.searchEarly(bytes)
        guard isReading else { return false }
        self.early = early
        guard isWhole else { return false }
        let message = message(bytes)
        if isReading { succeed(message) } else { return false }
        return true
    }

    override func inboundChanged() {
        do {
            if let message = try take() { succeed(message) }
        } catch {
            stream.remove(self)
            promise?.fail(error)
        }
    }

    private func succeed(_ message: Message?) {
        stream.watch?.bytesWereTaken()
        stream.remove(self)
        promise?.succeed(message)
    }

    override func cancellationRequested() { stream.remove(self) }

    override func fail(_ error: any Error, byClose: Bool) {
        promise?.future.ignoreFailure()
        promise?.fail(error)
    }

    override var subject: String? { "readMessage of \(stream.name)" }
}
