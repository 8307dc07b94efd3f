internal import FoundationEssentials
internal import Futures

/// Gets messages of a stream, one for each request of a task that waits.
class StreamAsker: Reader, ElementAsker {
    final let stream: ByteStream
    /// The source that has asked. It holds this object, and stops it before the source is released.
    @exclusivity(unchecked) private final unowned(unsafe) var source: ElementSource<Data>!

    init(_ stream: ByteStream) { self.stream = stream }

    /// Called before each request.
    func willAsk() {}

    /// Takes a message out of `buffer`, which has bytes. Returns `nil` if more bytes are needed.
    func take(from buffer: InboundBuffer) throws -> Data? { nil }

    final override var subject: String? { "the next message of \(stream.name)" }

    final func ask(for wait: ElementWait) -> Bool {
        guard stream.reader == nil else { return false }
        unsafe source = unsafeDowncast(wait, to: ElementSource<Data>.self)
        willAsk()
        if stream.hasUnread {
            let message: Data?
            // The future that is then asked for the message fails with the same error.
            do { message = try stream.takeBuffered(take) } catch { return false }
            if let message {
                unsafe source.deliver(message)
                return true
            }
        }
        guard stream.refusal == nil, !stream.isAtEnd || stream.isGivingWay, stream.sides.contains(.read)
        else {
            return false
        }
        stream.setReader(self)
        return true
    }

    final func stopAsking(for wait: ElementWait) { stream.remove(self) }

    /// Passes on a message that answers the request.
    final func accept(_ message: Data) {
        stream.watch?.bytesWereTaken()
        stream.remove(self)
        unsafe source.deliver(message)
    }

    final override func inboundChanged() {
        do {
            let isTaken = stream.hasUnread || stream.buffer?.longLine != nil
            if isTaken, let message = try take(from: stream.inbound) { return accept(message) }
            if stream.isAtEnd, !stream.hasUnread { end(because: nil) }
        } catch {
            end(because: error)
        }
    }

    private final func end(because error: (any Error)?) {
        stream.remove(self)
        unsafe source.end(because: error)
    }

    final override func fail(_ error: any Error, byClose: Bool) { unsafe source.end(because: error) }
}
