public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Calls `body` with the peer's bytes, chunk after chunk, and completes when the peer has finished sending.
    ///
    /// The next chunk waits for the future that `body` returned, and while it waits the peer is held back: so a
    /// `body` that returns the future of what it wrote never queues more than a chunk. Ends as well, without
    /// failure, when this side calls ``close(within:)``. Fails with what `body` throws or its future fails with,
    /// with the error that broke the connection, and with ``StreamError/readPending`` if a read is pending.
    /// Cancelling it asks the future that it waits for to cancel, and leaves the bytes that follow readable.
    public func forEachChunk<Ignored>(
        _ body: @escaping (_ chunk: Data) throws -> Future<Ignored>
    ) -> Future<Void> {
        // Generic so that a closure of several statements without a `return` is one of the other method.
        runChunks(.chunk(body))
    }

    /// Calls `body` with the peer's bytes, chunk after chunk, and completes when the peer has finished sending.
    ///
    /// Nothing holds the peer back: what `body` writes is limited by ``StreamLimits/writeCap`` alone. To wait for
    /// it, return its future. Otherwise the same as the other one.
    public func forEachChunk(_ body: @escaping (_ chunk: Data) throws -> Void) -> Future<Void> {
        let loop = loop
        return forEachChunk { chunk in
            try body(chunk)
            return loop.succeeded()
        }
    }

    /// Calls `body` with the peer's bytes where the system has put them, without a copy, and completes when the peer
    /// has finished sending. The fastest way to read.
    ///
    /// `bytes` can be used within the call only, which the compiler sees to: what is to stay needs a copy,
    /// `Data(copying: bytes)`. The next bytes wait for the future that `body` returned, in a buffer. Otherwise the same
    /// as `forEachChunk`.
    public func forEachSpan<Ignored>(
        _ body: @escaping (_ bytes: RawSpan) throws -> Future<Ignored>
    ) -> Future<Void> {
        runChunks(.span(body))
    }

    /// Calls `body` with the peer's bytes where the system has put them, without a copy, and completes when the peer
    /// has finished sending.
    ///
    /// Nothing holds the peer back: what `body` writes is limited by ``StreamLimits/writeCap`` alone. To wait for
    /// it, return its future. Otherwise the same as the other one.
    public func forEachSpan(_ body: @escaping (_ bytes: RawSpan) throws -> Void) -> Future<Void> {
        let loop = loop
        return forEachSpan { bytes in
            try body(bytes)
            return loop.succeeded()
        }
    }

    private func runChunks<Ignored>(_ body: ChunkBody<Ignored>) -> Future<Void> {
        loop.checkThread()
        guard reader == nil else { return loop.failed(StreamError.readPending) }
        if !hasUnread, let refusal { return refused(refusal) }
        guard sides.contains(.read) else { return loop.failed(StreamError.notReadable) }
        let chunks = ChunkLoop(self, body)
        setReader(chunks)
        if hasUnread || isAtEnd { chunks.startLater() }
        return chunks.future
    }
}

/// What is called with the bytes.
private enum ChunkBody<Ignored> {
    case chunk((Data) throws -> Future<Ignored>)
    case span((RawSpan) throws -> Future<Ignored>)

    func callAsFunction(_ chunk: Data) throws -> Future<Ignored> {
        switch self {
        case .chunk(let body): try body(chunk)
        case .span(let body): try body(chunk.bytes)
        }
    }
}

/// The reader behind `forEachChunk` and `forEachSpan`: takes a chunk whenever there is one and `body` is done with the last.
private final class ChunkLoop<Ignored>: Reader {
    private let stream: ByteStream
    private let body: ChunkBody<Ignored>
    private let promise: OwnedPromise<Void>
    /// Goes on when the future of `body` completes.
    private var waiting: Future<Void>?

    init(_ stream: ByteStream, _ body: ChunkBody<Ignored>) {
        self.stream = stream
        self.body = body
        promise = OwnedPromise(on: stream.loop)
        super.init()
        promise.belong(to: self)
    }

    var future: Future<Void> { promise.future }

    func startLater() {
        stream.loop.submit { self.run() }.ignoreFailure()
    }

    override var wantsBytes: Bool { waiting == nil }

    override func receive(_ chunk: Data) -> Bool {
        guard isReady else { return false }
        handle { try body(chunk) }
        return true
    }

    override var takesSpans: Bool {
        if case .span = body { isReady } else { false }
    }

    override func receive(_ bytes: RawSpan) {
        if case .span(let body) = body { handle { try body(bytes) } }
    }

    override func inboundChanged() { run() }

    override func cancellationRequested() {
        stream.remove(self)
        waiting?.cancel()
    }

    override func fail(_ error: any Error, byClose: Bool) {
        if byClose {
            promise.succeed(())
        } else {
            promise.future.ignoreFailure()
            promise.fail(error)
        }
    }

    private var isReady: Bool { waiting == nil && stream.reader === self }

    private func run() {
        while isReady {
            guard stream.hasUnread else { return bytesRanOut() }
            let chunk = stream.inbound.takeBlock()
            handle { try body(chunk) }
        }
    }

    @inline(__always)
    private func handle(_ call: () throws -> Future<Ignored>) {
        stream.watch?.bytesWereTaken()
        do {
            let future = try call()
            if !future.hasSucceeded { follow(future) }
        } catch {
            end(.failure(error))
        }
    }

    // Apart, because whoever switches over a `Result` of a generic type looks that type up first: at each chunk.
    @inline(never)
    private func follow(_ future: Future<Ignored>) {
        switch future.result {
        case .success: break
        case .failure(let error):
            future.ignoreFailure()
            end(.failure(error))
        case nil: if stream.reader === self { wait(for: future) }
        }
    }

    private func bytesRanOut() {
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

    private func wait(for future: Future<Ignored>) {
        waiting = future.mapResult { result in
            self.waiting = nil
            switch result {
            case .success: self.run()
            case .failure(let error): self.end(.failure(error))
            }
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        guard stream.reader === self else { return }
        stream.remove(self)
        promise.complete(result)
    }
}
