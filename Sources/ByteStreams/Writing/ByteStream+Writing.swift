public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Sends `data`, and completes when the system has accepted all bytes. The peer may not have received the
    /// bytes by then.
    ///
    /// Bytes that the system does not accept at once are queued. A write without bytes completes when all earlier
    /// writes have completed. If you cancel the returned future before any of the bytes have been passed to the
    /// system, the bytes are removed from the queue. Otherwise cancelling has no effect.
    ///
    /// Fails with the error that broke the connection. Fails with
    /// ``StreamError/backpressureExceeded(queued:limit:)`` if more than ``StreamLimits/writeCap`` bytes were
    /// queued before. Fails with ``StreamError/connectionClosed`` after ``close(within:)``, with
    /// ``StreamError/writeSideShutDown`` after ``shutdownWrite()``, with ``StreamError/drained`` after a draining
    /// server has ended the connection, and with ``StreamError/notWritable`` if the stream is for reading only.
    ///
    /// If no code observes the future, only `writeSideShutDown`, the first `drained` and `notWritable` are reported
    /// as unhandled. To learn of a broken connection, observe ``closed``.
    @discardableResult
    public func write(_ data: Data) -> Future<Void> {
        guard isGathering, data.count > Gathering.copiedSize else {
            return write(data.bytes) { data.dropFirst($0) }
        }
        return write([data])
    }

    /// Sends `bytes`. Bytes that the system accepts at once are not copied. Everything else is the same as in
    /// ``write(_:)-(Data)``.
    @discardableResult
    public func write(_ bytes: RawSpan) -> Future<Void> {
        write(bytes) { Data(copying: bytes.extracting(droppingFirst: $0)) }
    }

    /// Sends `bytes`. Calls `rest` only if the system does not take all bytes at once. `rest` then returns a
    /// copy of `bytes` without the first `taken` bytes.
    @inline(__always)
    final func write(_ bytes: RawSpan, _ rest: (_ taken: Int) -> Data) -> Future<Void> {
        core.checkThread()
        noteWrite(isEmpty: bytes.isEmpty)
        if isGathering, let write = gather(bytes) { return write }
        guard canWriteAtOnce, !bytes.isEmpty else { return enqueue([rest(0)]) }
        do {
            let taken = try transport.tryWrite(bytes)
            noteSent(taken)
            return taken == bytes.byteCount ? core.succeeded() : enqueue([rest(taken)])
        } catch {
            return transportRefused(error)
        }
    }

    /// Sends all of `buffers`, from the first to the last, with one vectored write: the buffers are not first
    /// copied into one large buffer. Everything else is the same as in ``write(_:)-(Data)``.
    @discardableResult
    public func write(_ buffers: [Data]) -> Future<Void> {
        core.checkThread()
        let count = buffers.totalCount
        noteWrite(isEmpty: count == 0)
        if isGathering, let write = gather(buffers) { return write }
        guard canWriteAtOnce, count > 0 else { return enqueue(buffers) }
        do {
            let taken = try transport.tryWrite(buffers)
            noteSent(taken)
            return taken == count ? core.succeeded() : enqueue(buffers.dropping(taken))
        } catch {
            return transportRefused(error)
        }
    }

    /// The number of bytes that have been written and that the system has not accepted yet. These bytes wait in
    /// the queue of this stream.
    public var bufferedBytes: Int {
        core.checkThread()
        return outbound?.byteCount(unwritten: transport.unwrittenBytes) ?? 0
    }

    /// Completes when there is room in the queue for more bytes. If fewer than
    /// ``StreamLimits/writeHighWaterMark`` bytes are queued, completes at once. Otherwise completes when fewer
    /// than ``StreamLimits/writeLowWaterMark`` bytes are queued.
    ///
    /// Fails with the error that broke the connection, and with ``StreamError/connectionClosed`` after
    /// ``close(within:)``. Cancelling this future does not end it: all code that waits for this future still
    /// gets the outcome.
    ///
    /// ```swift
    /// for name in names {
    ///     try await connection.writable.value
    ///     connection.write(try await load(name))
    /// }
    /// ```
    public var writable: Future<Void> {
        core.checkThread()
        if let refusal { return refused(refusal) }
        if let promise = details?.writablePromise { return promise.future }
        guard bufferedBytes >= limits.writeHighWaterMark else { return core.succeeded() }
        let promise = core.makeSharedPromise()
        madeDetails.writablePromise = promise
        promise.isCalled("room to write to \(name)")
        return promise.future
    }

    /// Sends all earlier writes, then tells the peer that nothing follows. This side can still read.
    ///
    /// Completes when the system has accepted the end of the data. All calls return the same future. The future
    /// does not fail merely because the peer has already disconnected. Fails with the error that broke the
    /// connection, and with ``StreamError/connectionClosed`` after ``close(within:)``. Later writes fail with
    /// ``StreamError/writeSideShutDown``.
    /// Binds [`uv_shutdown`](https://docs.libuv.org/en/v1.x/stream.html).
    ///
    /// ```swift
    /// connection.write("GET / HTTP/1.0\r\n\r\n")
    /// connection.shutdownWrite()
    /// let answer = connection.readToEnd()
    /// ```
    @discardableResult
    public func shutdownWrite() -> Future<Void> {
        core.checkThread()
        if let refusal { return refused(refusal) }
        if writeSide == .open {
            writeSide = .shuttingDown
            madeDetails.shutdownPromise = core.makeSharedPromise()
            madeDetails.shutdownPromise?.isCalled("shutdownWrite of \(name)")
            updateHold()
            if outbound == nil { transport.shutdownWrite() }
        }
        return details?.shutdownPromise?.future ?? core.succeeded()
    }

    @inline(__always)
    final func noteSent(_ count: Int) {
        sent += count
        if watch != nil { watchSent() }
    }

    final var canWriteAtOnce: Bool { phase == .open && writeSide == .open && outbound == nil }

    /// Queues a write, of `buffers` or of what `source` brings.
    final func enqueue(_ buffers: [Data], _ source: (any OutboundSource)? = nil) -> Future<Void> {
        sendGathered()
        if let refusal { return refused(refusal) }
        guard sides.contains(.write) else { return misused(.notWritable, by: "a write") }
        guard writeSide == .open else {
            guard isEndedByDrain else { return misused(.writeSideShutDown, by: "a write") }
            return cut(losing: source != nil || buffers.totalCount > 0)
        }
        // Queues what user code wrote while the writes of `sendGathered` completed.
        queueGathered()
        let queued = outbound?.load(unwritten: transport.unwrittenBytes) ?? 0
        guard queued <= limits.writeCap else {
            let error = StreamError.backpressureExceeded(queued: queued, limit: limits.writeCap)
            connectionBroke(error)
            return refused(error)
        }
        guard outbound != nil || buffers.totalCount > 0 || source != nil else { return core.succeeded() }
        let promise = core.makePromise(of: Void.self)
        promise.isCalled("a write of \(name)")
        let isFirst = outbound == nil
        let outbound = outbound ?? OutboundQueue()
        let id = outbound.append(buffers, source, promise)
        promise.onCancelRequest { [unowned self] in
            if outbound.remove(id) {
                completeWritable()
            } else {
                guard let source else { return .continue }
                source.stop()
            }
            return .cancel
        }
        if isFirst {
            madeDetails.outbound = outbound
            updateHold()
            startBatch(outbound)
            if outbound.source == nil { watchWrite() }
        }
        return promise.future
    }

    /// Gives the next batch to the transport, or lets the next source begin. Returns `false` if nothing is left.
    @discardableResult
    final func startBatch(_ outbound: OutboundQueue) -> Bool {
        let batch = outbound.takeBatch()
        if !batch.isEmpty {
            transport.write(batch)
        } else if let source = outbound.takeSource() {
            source.begin(on: self)
        } else {
            return false
        }
        return true
    }

    // Not inlined: so a write that succeeds runs less code.
    @inline(never)
    private func transportRefused(_ error: any Error) -> Future<Void> {
        transportBroke(error)
        return refused(error)
    }

    final func completeWritable() {
        guard outbound == nil || bufferedBytes < limits.writeLowWaterMark else { return }
        details?.writablePromise.take()?.succeed()
    }
}

extension ByteStream {
    package func transportDidWrite(failure: (any Error)?) {
        guard isConnected, let outbound else { return }
        if let failure { return transportBroke(failure) }
        sent += outbound.bytesInBatch
        if let source = outbound.source {
            outbound.finishPart()
            watchWritten()
            watchPause()
            return source.partWasSent()
        }
        batchEnded(outbound)
    }

    /// Completes the writes of the batch or of the source that has ended, and starts the next one.
    final func batchEnded(_ outbound: OutboundQueue, failure: (any Error)? = nil) {
        let wasSource = outbound.source != nil
        var finished = outbound.finishBatch()
        // A source is the last one of its batch.
        let source = finished.count - 1
        let isDrained = !startBatch(outbound)
        if isDrained {
            finished += outbound.finishBatch()
            details?.outbound = nil
        }
        watchWritten()
        if outbound.source != nil { watchPause() } else if wasSource, !isDrained { watchWrite() }
        // Not called before: user code may run here, and may write, or end the stream.
        func complete() {
            for (index, write) in finished.enumerated() {
                if let failure, index == source {
                    write.promise.fail(failure)
                } else {
                    write.promise.succeed()
                }
            }
        }
        guard !isDrained else { return outboundDrained(complete) }
        complete()
        completeWritable()
    }

    /// Completes what waits for the last bytes that were queued, and takes the next step. If user code within
    /// `complete` writes more or begins to end the stream, it has taken the next step itself.
    @inline(__always)
    final func outboundDrained(_ complete: () -> Void) {
        let (shutsDown, closes) = (writeSide == .shuttingDown, phase == .flushing)
        complete()
        completeWritable()
        if shutsDown {
            if isConnected { transport.shutdownWrite() }
        } else if closes {
            closeWhenFlushed()
        }
        updateHold()
        noteIdle()
    }

    package func transportDidShutdown(failure: (any Error)?) {
        guard isConnected, writeSide == .shuttingDown else { return }
        if let failure { return transportBroke(failure) }
        writeSide = .shutDown
        let closes = phase == .flushing
        details?.shutdownPromise?.succeed()
        if closes { closeWhenFlushed() }
        updateHold()
    }
}
