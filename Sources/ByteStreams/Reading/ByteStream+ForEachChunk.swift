public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Calls `body` with each chunk of bytes from the peer, and completes when the peer has finished sending.
    ///
    /// `body` returns a future. When that future has completed, `body` is called with the next chunk. Until
    /// then, the stream reads no further chunk, so a peer that sends too fast has to wait. If `body` writes
    /// the chunk and returns the future of that write, never more than one chunk waits to be sent. If this
    /// side calls ``close(within:)``, the returned future completes without failure.
    ///
    /// Fails with the error that `body` throws, with the error of the future that `body` returned, or with the
    /// error that broke the connection. Fails with ``StreamError/readPending`` if a read is pending. Fails with
    /// `FutureError.cycle` if `body` returns a future that waits for the future that this method returned.
    ///
    /// If you cancel the returned future, the pending future that `body` returned is asked to cancel, too. Bytes
    /// that have not been passed to `body` stay readable.
    ///
    /// ```swift
    /// let echo = connection.forEachChunk { chunk in connection.write(chunk) }
    /// ```
    public func forEachChunk<Ignored>(
        _ body: @escaping (_ chunk: Data) throws -> Future<Ignored>
    ) -> Future<Void> {
        // This method is generic in the type that it ignores. So a closure of several statements without a
        // `return` matches the other method.
        runChunks("forEachChunk") { DataLoop(self, ChunkBody(call: body).untyped) }
    }

    /// Calls `body` with each chunk of bytes from the peer, and completes when the peer has finished sending.
    ///
    /// This method does not wait for the writes of `body`. So only ``StreamLimits/writeCap`` limits how many
    /// bytes are queued. To wait for a write, let `body` return the future of the write. Everything else is the
    /// same as in the `forEachChunk` whose `body` returns a future.
    public func forEachChunk(_ body: @escaping (_ chunk: Data) throws -> Void) -> Future<Void> {
        forEachChunk { [core] chunk in
            try body(chunk)
            return core.succeeded()
        }
    }

    /// Calls `body` with the bytes from the peer, without copying the bytes, and completes when the peer has
    /// finished sending. This is the fastest way to read.
    ///
    /// You can use `bytes` only during the call of `body`. The compiler checks this. To keep the bytes, make a
    /// copy: `Data(copying: bytes)`. `body` returns a future. While that future is pending, the stream keeps
    /// further bytes in a buffer. Everything else is the same as in `forEachChunk`.
    ///
    /// ```swift
    /// let relayed = connection.forEachSpan { bytes in peer.write(bytes) }
    /// ```
    public func forEachSpan<Ignored>(
        _ body: @escaping (_ bytes: RawSpan) throws -> Future<Ignored>
    ) -> Future<Void> {
        runChunks("forEachSpan") { SpanLoop(self, SpanBody(call: body).untyped) }
    }

    /// Calls `body` with the bytes from the peer, without copying the bytes, and completes when the peer has
    /// finished sending.
    ///
    /// This method does not wait for the writes of `body`. So only ``StreamLimits/writeCap`` limits how many
    /// bytes are queued. To wait for a write, let `body` return the future of the write. Everything else is the
    /// same as in the `forEachSpan` whose `body` returns a future.
    public func forEachSpan(_ body: @escaping (_ bytes: RawSpan) throws -> Void) -> Future<Void> {
        forEachSpan { [core] bytes in
            try body(bytes)
            return core.succeeded()
        }
    }

    /// Makes the loop of `operation` the reader of the stream, unless the stream cannot be read.
    final func runChunks(_ operation: String, _ makeLoop: () -> ChunkLoop) -> Future<Void> {
        core.checkThread()
        if let failed: Future<Void> = unreadable(by: operation) { return failed }
        let chunks = makeLoop()
        setReader(chunks)
        chunks.runLater()
        return chunks.future
    }
}

private final class DataLoop: ChunkLoop {
    private let body: ChunkBody<Void>

    init(_ stream: ByteStream, _ body: ChunkBody<Void>) {
        let values = stream.core.carriedValues
        self.body = values.isEmpty ? body : ChunkBody { chunk in try values.during { try body.call(chunk) } }
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) { follow { try body.call(chunk()) } }

    override var subject: String? { "forEachChunk of \(stream.name)" }
}

private final class SpanLoop: ChunkLoop {
    private let body: SpanBody<Void>

    init(_ stream: ByteStream, _ body: SpanBody<Void>) {
        let values = stream.core.carriedValues
        self.body = values.isEmpty ? body : SpanBody { bytes in try values.during { try body.call(bytes) } }
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) { follow { try body.call(bytes) } }

    override var subject: String? { "forEachSpan of \(stream.name)" }
}
