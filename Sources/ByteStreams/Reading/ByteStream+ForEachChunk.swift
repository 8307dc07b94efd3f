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
        runChunks { DataLoop(self, ChunkBody(call: body).untyped) }
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
        runChunks { SpanLoop(self, SpanBody(call: body).untyped) }
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

    private func runChunks(_ makeLoop: () -> ChunkLoop) -> Future<Void> {
        core.checkThread()
        if let failed: Future<Void> = unreadable(by: "forEachChunk") { return failed }
        let chunks = makeLoop()
        setReader(chunks)
        chunks.runLater()
        return chunks.future
    }
}

/// A reader that takes chunk after chunk, and may wait for a future before it takes the next chunk. It is not
/// generic: the runtime would have to look up a generic type for each connection.
class ChunkReader: Reader {
    final let stream: ByteStream
    /// The future for which the reader waits before it takes the next chunk.
    final var waiting: Future<Void>?

    init(_ stream: ByteStream) { self.stream = stream }

    /// Takes a chunk, either as the span or as the data that `chunk` returns.
    func take(_ bytes: RawSpan, orAs chunk: () -> Data) {}

    /// Called when all bytes have been taken and the peer has finished sending.
    func reachedEnd() {}

    final override var wantsBytes: Bool { waiting == nil }

    final override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard waiting == nil else { return false }
        handle(bytes, orAs: data)
        return true
    }

    final override func inboundChanged() { run() }

    /// Takes the bytes that have already come in a later callback. Does nothing if no bytes have come.
    final func runLater() {
        if stream.hasUnread || stream.isAtEnd { stream.core.later { self.run() } }
    }

    /// Takes chunks from the buffer until the reader waits, or until no bytes are left.
    final func run() {
        while waiting == nil, stream.reader === self {
            guard stream.hasUnread else { return bytesRanOut() }
            let chunk = stream.inbound.takeBlock()
            handle(chunk.bytes) { chunk }
        }
    }

    @inline(__always)
    private final func handle(_ bytes: RawSpan, orAs chunk: () -> Data) {
        stream.watch?.bytesWereTaken()
        take(bytes, orAs: chunk)
    }

    private final func bytesRanOut() {
        if let refusal = stream.refusal {
            stream.remove(self)
            fail(refusal, byClose: false)
        } else if stream.isAtEnd {
            reachedEnd()
        } else {
            stream.startReading()
            stream.watchRead()
            stream.noteIdle()
        }
    }
}

private final class DataLoop: ChunkLoop {
    private let body: ChunkBody<Void>

    init(_ stream: ByteStream, _ body: ChunkBody<Void>) {
        self.body = body
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) { follow { try body.call(chunk()) } }

    override var subject: String? { "forEachChunk of \(stream.name)" }
}

private final class SpanLoop: ChunkLoop {
    private let body: SpanBody<Void>

    init(_ stream: ByteStream, _ body: SpanBody<Void>) {
        self.body = body
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) { follow { try body.call(bytes) } }

    override var subject: String? { "forEachSpan of \(stream.name)" }
}

/// The reader of `forEachChunk` and `forEachSpan`, which waits for the future that the body returned.
private class ChunkLoop: ChunkReader {
    private final let promise: OwnedPromise<Void>

    override init(_ stream: ByteStream) {
        promise = OwnedPromise(on: stream.core)
        super.init(stream)
        promise.belong(to: self)
    }

    final var future: Future<Void> { promise.future }

    final override func cancellationRequested() {
        stream.remove(self)
        waiting?.cancel()
    }

    final override func fail(_ error: any Error, byClose: Bool) {
        if byClose {
            promise.succeed(())
        } else {
            promise.future.ignoreFailure()
            promise.fail(error)
        }
    }

    final override func reachedEnd() { end(.success(())) }

    /// Calls the body, and then waits for the future that it returns.
    @inline(__always)
    final func follow(_ body: () throws -> Future<Void>) {
        do {
            let future = try body()
            if !future.hasSucceeded { wait(for: future) }
        } catch {
            end(.failure(error))
        }
    }

    private final func wait(for future: Future<Void>) {
        switch future.result {
        case .success: break
        case .failure(let error):
            future.ignoreFailure()
            end(.failure(error))
        case nil where stream.reader !== self:
            if promise.future.isCancelled { future.cancel() }
        case nil where future.isDecided(by: promise.future):
            future.ignoreFailure()
            end(.failure(FutureError.cycle))
        case nil:
            waiting = future.mapResult { result in
                self.waiting = nil
                switch result {
                case .success: self.run()
                case .failure(let error): self.end(.failure(error))
                }
            }
        }
    }

    private final func end(_ result: Result<Void, any Error>) {
        guard stream.reader === self else { return }
        stream.remove(self)
        promise.complete(result)
    }
}
