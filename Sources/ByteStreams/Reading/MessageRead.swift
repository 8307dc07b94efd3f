internal import FoundationEssentials
internal import Futures

/// The reader of `readMessage`, which is used once.
final class MessageRead<Message>: Reader {
    private let stream: ByteStream
    private let search: MessageSearch
    private var early: MessageSearch.Early?
    /// Returns the message that was found, whose bytes these are.
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

    /// Takes a message out of `buffer`. Returns `.some(nil)` if the peer has finished sending and no message is left, and
    /// `nil` if more bytes have to come.
    func take(from buffer: InboundBuffer) throws -> Message?? {
        guard let size = try search.nextSize(in: buffer, early.take()) else {
            return buffer.isEmpty && buffer.isAtEnd ? .some(nil) : nil
        }
        let (block, start) = buffer.block(0)
        buffer.discard(size)
        return message(block.bytes.extracting(start..<start + size))
    }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        let (isWhole, early) = search.searchEarly(bytes)
        if isWhole { succeed(message(bytes)) } else { self.early = early }
        return isWhole
    }

    override func inboundChanged() {
        do {
            if let message = try take(from: stream.inbound) { succeed(message) }
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
