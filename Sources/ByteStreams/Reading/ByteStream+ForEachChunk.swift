public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Calls `body` with the peer's bytes, chunk after chunk, and completes when the peer has finished sending.
    ///
    /// `body` is called again only when the future that `body` returned has completed. Until then the peer is held
    /// back. So if `body` returns the future of its write, no more than one chunk is ever queued. If this side calls
    /// ``close(within:)``, the returned future completes without failure.
    ///
    /// Fails with what `body` throws, with the failure of the future that `body` returned, or with the error that broke
    /// the connection. Fails with ``StreamError/readPending`` if a read is pending. Fails with `FutureError.cycle` if
    /// `body` returns a future that waits for the one that this method returns. Cancelling the returned future asks the
    /// pending future that `body` returned to cancel. The bytes that follow stay readable.
    ///
    /// ```swift
    /// let echo = connection.forEachChunk { chunk in connection.write(chunk) }
    /// ```
    public func forEachChunk<Ignored>(
        _ body: @escaping (_ chunk: Data) throws -> Future<Ignored>
    ) -> Future<Void> {
        // Generic so that a closure of several statements without a `return` is one of the other method.
        runChunks { DataLoop(self, ChunkBody(call: body).untyped) }
    }

    /// Calls `body` with the peer's bytes, chunk after chunk, and completes when the peer has finished sending.
    ///
    /// This method does not hold the peer back: only ``StreamLimits/writeCap`` limits what `body` writes. To wait for a
    /// write, let `body` return the future of the write. In all else, this method behaves as the `forEachChunk` with a
    /// `body` that returns a future.
    public func forEachChunk(_ body: @escaping (_ chunk: Data) throws -> Void) -> Future<Void> {
        let core = core
        return forEachChunk { chunk in
            try body(chunk)
            return core.succeeded()
        }
    }

    /// Calls `body` with the peer's bytes where the system has put them, without a copy, and completes when the peer
    /// has finished sending. This is the fastest way to read.
    ///
    /// `bytes` can be used only during the call of `body`. The compiler checks this. To keep the bytes, make a copy:
    /// `Data(copying: bytes)`. While the future that `body` returned is pending, further bytes are kept in a buffer. In
    /// all else, this method behaves as `forEachChunk`.
    ///
    /// ```swift
    /// let relayed = connection.forEachSpan { bytes in peer.write(bytes) }
    /// ```
    public func forEachSpan<Ignored>(
        _ body: @escaping (_ bytes: RawSpan) throws -> Future<Ignored>
    ) -> Future<Void> {
        runChunks { SpanLoop(self, SpanBody(call: body).untyped) }
    }

    /// Calls `body` with the peer's bytes where the system has put them, without a copy, and completes when the peer
    /// has finished sending.
    ///
    /// This method does not hold the peer back: only ``StreamLimits/writeCap`` limits what `body` writes. To wait for a
    /// write, let `body` return the future of the write. In all else, this method behaves as the `forEachSpan` with a
    /// `body` that returns a future.
    public func forEachSpan(_ body: @escaping (_ bytes: RawSpan) throws -> Void) -> Future<Void> {
        let core = core
        return forEachSpan { bytes in
            try body(bytes)
            return core.succeeded()
        }
    }

    private func runChunks(_ makeLoop: () -> ChunkLoop) -> Future<Void> {
        core.checkThread()
        guard reader == nil else { return misused(.readPending, by: "forEachChunk") }
        if !hasUnread, let refusal { return refused(refusal) }
        guard sides.contains(.read) else { return misused(.notReadable, by: "forEachChunk") }
        let chunks = makeLoop()
        setReader(chunks)
        if hasUnread || isAtEnd { chunks.startLater() }
        return chunks.future
    }
}

private final class DataLoop: ChunkLoop {
    private let body: ChunkBody<Void>

    init(_ stream: ByteStream, _ body: ChunkBody<Void>) {
        self.body = body
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) throws -> Future<Void> {
        try body.call(chunk())
    }

    override var subject: String? { "forEachChunk of \(stream.name)" }
}

private final class SpanLoop: ChunkLoop {
    private let body: SpanBody<Void>

    init(_ stream: ByteStream, _ body: SpanBody<Void>) {
        self.body = body
        super.init(stream)
    }

    override func take(_ bytes: RawSpan, orAs chunk: () -> Data) throws -> Future<Void> {
        try body.call(bytes)
    }

    override var subject: String? { "forEachSpan of \(stream.name)" }
}

/// The reader behind `forEachChunk` and `forEachSpan`: takes a chunk whenever there is one and the body is done with
/// the last. It is not generic: a generic type would be looked up for each connection.
private class ChunkLoop: Reader {
    final let stream: ByteStream
    private final let promise: OwnedPromise<Void>
    /// The step that goes on when the future of the body completes.
    private final var waiting: Future<Void>?

    init(_ stream: ByteStream) {
        self.stream = stream
        promise = OwnedPromise(on: stream.core)
        super.init()
        promise.belong(to: self)
    }

    /// Calls the body.
    func take(_ bytes: RawSpan, orAs chunk: () -> Data) throws -> Future<Void> {
        fatalError("Each kind of loop calls a body of its own.")
    }

    final var future: Future<Void> { promise.future }

    final func startLater() {
        stream.core.later { self.run() }
    }

    final override var wantsBytes: Bool { waiting == nil }

    final override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard waiting == nil else { return false }
        handle(bytes, orAs: data)
        return true
    }

    final override func inboundChanged() { run() }

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

    private final var isReady: Bool { waiting == nil && stream.reader === self }

    private final func run() {
        while isReady {
            guard stream.hasUnread else { return bytesRanOut() }
            let chunk = stream.inbound.takeBlock()
            handle(chunk.bytes) { chunk }
        }
    }

    @inline(__always)
    private final func handle(_ bytes: RawSpan, orAs chunk: () -> Data) {
        stream.watch?.bytesWereTaken()
        do {
            let future = try take(bytes, orAs: chunk)
            if !future.hasSucceeded { follow(future) }
        } catch {
            end(.failure(error))
        }
    }

    private final func follow(_ future: Future<Void>) {
        switch future.result {
        case .success: break
        case .failure(let error):
            future.ignoreFailure()
            end(.failure(error))
        case nil:
            if stream.reader === self {
                wait(for: future)
            } else if promise.future.isCancelled {
                future.cancel()
            }
        }
    }

    private final func bytesRanOut() {
        if let refusal = stream.refusal {
            promise.future.ignoreFailure()
            end(.failure(refusal))
        } else if stream.isAtEnd {
            end(.success(()))
        } else {
            stream.startReading()
            stream.watchRead()
            stream.noteIdle()
        }
    }

    private final func wait(for future: Future<Void>) {
        if future.isDecided(by: promise.future) {
            future.ignoreFailure()
            return end(.failure(FutureError.cycle))
        }
        waiting = future.mapResult { result in
            self.waiting = nil
            switch result {
            case .success: self.run()
            case .failure(let error): self.end(.failure(error))
            }
        }
    }

    private final func end(_ result: Result<Void, any Error>) {
        guard stream.reader === self else { return }
        stream.remove(self)
        promise.complete(result)
    }
}
