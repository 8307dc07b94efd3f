public import ByteStreams
public import Futures

extension MessageWriter {
    /// Sends what was written, as ``ByteStream/write(_:)`` does.
    @discardableResult
    public func send(to stream: ByteStream) -> Future<Void> { stream.write(bytes) }
}
