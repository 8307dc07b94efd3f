internal import FoundationEssentials
public import Futures

extension ByteStream {
    /// Sends to `other` all bytes that come from this stream's peer, and completes with the number of bytes.
    ///
    /// The returned future completes after this stream's peer has finished sending: when all the bytes have left the
    /// queue of `other`, and `other` has told its own peer that nothing follows (``shutdownWrite()``). With
    /// `shuttingDownWrite: false`, `other` does not tell its peer. As soon as `other` has
    /// ``StreamLimits/writeHighWaterMark`` bytes queued, this stream's peer is held back, until the low mark is
    /// reached. A pipe has one direction: a proxy pipes each of two streams to the other. A stream may be piped to
    /// itself. Then it sends everything back.
    ///
    /// Fails with the error that breaks one of the two streams. Fails with ``StreamError/connectionClosed`` if this
    /// side closes one of them, and with ``StreamError/readPending`` if a read of this stream is pending. Fails with
    /// ``StreamError/notReadable`` if this stream is for writing only, and with ``StreamError/notWritable`` if `other`
    /// is for reading only. After a failure, both streams stay as they are. Then abort `other`: otherwise its peer may
    /// take the bytes that it got for all of them. If you cancel the returned future, bytes that have not been passed
    /// to `other` stay readable. Traps if `other` belongs to another loop.
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
            trap(
                "pipe(to:) was given a stream of another event loop. Make both streams on one loop.")
        }
        guard reader == nil else { return misused(.readPending, by: "pipe") }
        if let refusal = other.refusal { return refused(refusal) }
        if !hasUnread, let refusal { return refused(refusal) }
        guard sides.contains(.read) else { return misused(.notReadable, by: "pipe") }
        guard other.sides.contains(.write) else { return misused(.notWritable, by: "pipe") }
        let pipe = Pipe(self, other, shuttingDownWrite: shuttingDownWrite)
        setReader(pipe)
        pipe.start()
        return pipe.future
    }
}

/// The reader behind `pipe(to:)`: takes a chunk whenever there is one and the other stream has room.
private final class Pipe: Reader {
    private let source: ByteStream
    private let target: ByteStream
    private let shuttingDownWrite: Bool
    private let promise: OwnedPromise<Int>
    /// Ends what waits for the other stream.
    private let ending: CancellationSource
    private var byteCount = 0
    private var isWaiting = false
    private var isEnding = false
    private var hasEnded = false

    init(_ source: ByteStream, _ target: ByteStream, shuttingDownWrite: Bool) {
        self.source = source
        self.target = target
        self.shuttingDownWrite = shuttingDownWrite
        promise = OwnedPromise(on: source.loop)
        ending = CancellationSource(on: source.loop)
        super.init()
        promise.belong(to: self)
    }

    var future: Future<Int> { promise.future }

    func start() {
        // Nothing may come for long, and nothing be written that would fail.
        target.closed.whenComplete(token: ending.token) { [self] result in
            if case .failure(let error) = result { end(.failure(error)) }
            end(.failure(StreamError.connectionClosed))
        }
        if source.hasUnread || source.isAtEnd {
            source.loop.later { self.run() }
        }
    }

    override var wantsBytes: Bool { !isWaiting }

    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard isReady else { return false }
        pass(bytes, orAs: data)
        return true
    }

    override func inboundChanged() { run() }

    override func cancellationRequested() { leave() }

    override func fail(_ error: any Error, byClose: Bool) { end(.failure(error)) }

    private var isReady: Bool { !isWaiting && !isEnding && source.reader === self }

    private func run() {
        while isReady {
            guard source.hasUnread else { return bytesRanOut() }
            let chunk = source.inbound.takeBlock()
            pass(chunk.bytes) { chunk }
        }
    }

    private func pass(_ bytes: RawSpan, orAs data: () -> Data) {
        byteCount += bytes.byteCount
        let write = target.write(bytes) { data().dropFirst($0) }
        if write.hasSucceeded { return }
        if case .failure(let error) = write.result {
            write.ignoreFailure()
            return end(.failure(error))
        }
        // What breaks the other stream later is known from its `closed`.
        let room = target.writable
        if room.hasSucceeded { return }
        isWaiting = true
        room.whenSuccess(token: ending.token) { [self] in
            isWaiting = false
            run()
        }
    }

    private func bytesRanOut() {
        if let refusal = source.refusal {
            end(.failure(refusal))
        } else if source.isAtEnd {
            finish()
        } else {
            source.startReading()
            source.noteIdle()
        }
    }

    /// Ends the pipe with a write without bytes, which completes when all writes before have.
    private func finish() {
        isEnding = true
        let last = shuttingDownWrite ? target.shutdownWrite() : target.write([Data]())
        last.whenComplete(token: ending.token) { [self] result in end(result.map { byteCount }) }
    }

    private func end(_ result: Result<Int, any Error>) {
        guard !hasEnded else { return }
        leave()
        if case .failure = result { promise.future.ignoreFailure() }
        promise.complete(result)
    }

    private func leave() {
        hasEnded = true
        source.remove(self)
        ending.cancel()
    }
}
