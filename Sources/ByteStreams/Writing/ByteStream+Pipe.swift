internal import FoundationEssentials
public import Futures

extension ByteStream {
    /// Writes all bytes that come from the peer of this stream to `other`, and completes with the number of these
    /// bytes.
    ///
    /// When the peer of this stream has finished sending, this method calls ``shutdownWrite()`` on `other`. The
    /// returned future completes when all bytes have been sent and ``shutdownWrite()`` has completed. With
    /// `shuttingDownWrite: false`, `other` stays open for writing, and the returned future completes when all
    /// bytes have left the queue of `other`.
    ///
    /// When ``StreamLimits/writeHighWaterMark`` bytes are queued in `other`, this stream stops reading. When
    /// fewer than ``StreamLimits/writeLowWaterMark`` bytes are queued, this stream reads again. A pipe has
    /// one direction. So a proxy needs two pipes: call this method on each of the two streams. If a stream is
    /// piped to itself, its peer gets all bytes back.
    ///
    /// Fails with the error that breaks the connection of one of the two streams. Fails with
    /// ``StreamError/connectionClosed`` if this side closes one of them, and with ``StreamError/readPending`` if
    /// a read of this stream is pending. Fails with ``StreamError/notReadable`` if this stream is for writing
    /// only, and with ``StreamError/notWritable`` if `other` is for reading only. A failure closes neither
    /// stream. After a failure, abort `other`: otherwise the peer of `other` does not learn that bytes are
    /// missing. If you cancel the returned future, bytes that have not been written to `other` stay readable.
    /// Traps if `other` belongs to another loop.
    ///
    /// ```swift
    /// let proxy = Future.all([connection.pipe(to: peer), peer.pipe(to: connection)])
    /// proxy.whenFailure { _ in
    ///     for end in [connection, peer] { end.abort() }
    /// }
    /// ```
    public func pipe(to other: ByteStream, shuttingDownWrite: Bool = true) -> Future<Int> {
        core.checkThread()
        guard other.core === core else {
            trap("pipe(to:) was given a stream of another event loop. Make both streams on one loop.")
        }
        if let failed: Future<Int> = unreadable(by: "pipe") { return failed }
        if let refusal = other.refusal { return refused(refusal) }
        guard other.sides.contains(.write) else { return misused(.notWritable, by: "pipe") }
        let pipe = Pipe(self, other, shuttingDownWrite: shuttingDownWrite)
        setReader(pipe)
        pipe.start()
        return pipe.future
    }
}

/// The reader of `pipe(to:)`, which waits until the other stream has room.
private final class Pipe: ChunkReader {
    private let target: ByteStream
    private let shuttingDownWrite: Bool
    private let promise: OwnedPromise<Int>
    /// The source of the token that ends all waits for the other stream.
    private let ending: CancellationSource
    private var byteCount = 0

    init(_ source: ByteStream, _ target: ByteStream, shuttingDownWrite: Bool) {
        self.target = target
        self.shuttingDownWrite = shuttingDownWrite
        promise = OwnedPromise(on: source.loop)
        ending = CancellationSource(on: source.loop)
        super.init(source)
        promise.belong(to: self)
    }

    var future: Future<Int> { promise.future }

    func start() {
        // The pipe may have nothing to write for a long time. Then no write fails when the other stream ends.
        target.closed.whenComplete(token: ending.token) { [self] result in
            if case .failure(let error) = result { end(.failure(error)) }
            end(.failure(StreamError.connectionClosed))
        }
        runLater()
    }

    override var readsMessages: Bool { false }

    override func cancellationRequested() { leave() }

    override func fail(_ error: any Error, byClose: Bool) { end(.failure(error)) }

    override func take(_ bytes: RawSpan, orAs data: () -> Data) {
        byteCount += bytes.byteCount
        let write = target.write(bytes) { data().dropFirst($0) }
        if write.hasSucceeded { return }
        if case .failure(let error) = write.result {
            write.ignoreFailure()
            return end(.failure(error))
        }
        // If the other stream breaks later, the pipe hears of it from `closed`.
        let room = target.writable
        if room.hasSucceeded { return }
        waiting = room
        room.whenSuccess(token: ending.token) { [self] in
            waiting = nil
            run()
        }
    }

    /// Ends the pipe when all writes have completed: the last write, which has no bytes, completes after all
    /// others.
    override func reachedEnd() {
        let last = shuttingDownWrite ? target.shutdownWrite() : target.write([Data]())
        last.whenComplete(token: ending.token) { [self] result in end(result.map { byteCount }) }
    }

    private func end(_ result: Result<Int, any Error>) {
        leave()
        if case .failure = result { promise.future.ignoreFailure() }
        promise.complete(result)
    }

    private func leave() {
        stream.remove(self)
        ending.cancel()
    }
}
