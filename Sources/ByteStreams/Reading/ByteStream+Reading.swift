public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Completes with the next bytes from the peer. Completes with empty data when the peer has finished sending.
    ///
    /// The following rules hold for all kinds of read. Reads return the bytes in the order in which the peer sent
    /// them. Only one read can be pending at a time: another read fails with ``StreamError/readPending``. If a
    /// pending read is cancelled or times out, no bytes are lost: the next read gets the bytes that have arrived.
    /// But a completed read has used up its bytes: if you then cancel a future that is derived from the read,
    /// these bytes are lost.
    ///
    /// If an error broke the connection, fails with that error when all bytes that came have been read. Fails
    /// with ``StreamError/connectionClosed`` after ``close(within:)``, and with ``StreamError/notReadable`` if
    /// the stream is for writing only. The `startIndex` of the data is 0.
    public func read() -> Future<Data> {
        readChunk({ $0 }, end: Data(), hasEnd: false)
    }

    /// Reads as ``read()`` does, but completes with `nil` when the peer has finished sending.
    final func readOrEnd() -> Future<Data?> { readChunk({ $0 }, end: nil, hasEnd: true) }

    @inline(__always)
    private func readChunk<Chunk>(_ chunk: (Data) -> Chunk, end: Chunk, hasEnd: Bool) -> Future<Chunk> {
        core.checkThread()
        guard reader == nil else { return misused(.readPending, by: "a read") }
        if hasUnread, let block = takeBuffered({ $0.takeBlock() }) { return core.succeeded(chunk(block)) }
        if let refusal { return refused(refusal) }
        if isAtEnd, !hasUnread { return core.succeeded(end) }
        guard sides.contains(.read) else { return misused(.notReadable, by: "a read") }
        let reads = chunkReads
        let read = reads.next(of: self, Chunk.self, hasEnd: hasEnd)
        setReader(reads)
        return read
    }

    final func read(_ framing: some Framing) -> Future<Data?> {
        readMessage(framing, { $0 }, hasEnd: true)
    }

    final func read(_ framing: EverythingLeft) -> Future<Data> {
        readMessage(framing, { $0! }, hasEnd: false)
    }

    @inline(__always)
    private func readMessage<Message>(
        _ framing: some Framing, _ message: (Data?) -> Message, hasEnd: Bool
    ) -> Future<Message> {
        core.checkThread()
        guard reader == nil else { return misused(.readPending, by: "a read") }
        if !hasUnread, let refusal { return refused(refusal) }
        var framing = framing
        do {
            if let taken = try takeBuffered({ try framing.take(from: $0) }) {
                return core.succeeded(message(taken))
            }
        } catch {
            return core.failed(error, subject: "a read of \(name)")
        }
        if let refusal { return refused(refusal) }
        guard sides.contains(.read) else { return misused(.notReadable, by: "a read") }
        let reads = messageReads
        reads.framing = framing
        let read = reads.next(of: self, Message.self, hasEnd: hasEnd)
        setReader(reads)
        return read
    }

    /// Returns the result of `take`, which takes bytes from the buffer. If the buffer was too full to read more, starts
    /// to read again. If the turn has had its share, takes nothing, and the reader goes on in the next turn.
    final func takeBuffered<Output>(_ take: (InboundBuffer) throws -> Output?) rethrows -> Output? {
        if hasUnread, core.spendsTurn(), phase == .open {
            giveWay()
            return nil
        }
        guard let output = try take(inbound) else { return nil }
        watch?.bytesWereTaken()
        startReadingIfEmptyEnough()
        return output
    }

    /// Makes `reader` the reader that gets the bytes that come.
    final func setReader(_ reader: Reader) {
        self.reader = reader
        if !isGivingWay { startReading() }
        watchRead()
        noteIdle()
    }

    /// Whether a reader waits for bytes.
    final var wantsBytes: Bool { reader?.wantsBytes == true && !isGivingWay }

    /// Leaves what is in the buffer to the next turn, since this turn has had its share.
    final func giveWay() {
        guard !isGivingWay else { return }
        isGivingWay = true
        core.later(on: .nextTurn) { [self] in goOn() }
    }

    private func goOn() {
        isGivingWay = false
        core.watchTurn(until: core.endOfShare)
        if hasUnread || isAtEnd { reader?.inboundChanged() }
        guard wantsBytes else { return startReadingIfEmptyEnough() }
        startReading()
        watchRead()
    }

    private func startReadingIfEmptyEnough() {
        if unreadBytes < limits.readLowWaterMark { startReading() }
    }

    /// Removes `reader`, if it is the current reader. Another reader can be set at once.
    final func remove(_ reader: Reader) {
        guard self.reader === reader else { return }
        self.reader = nil
        watch?.readEnded()
    }

    /// Starts reading, unless the stream reads already, or the peer has finished sending. Called with the
    /// first read, and after each pause.
    final func startReading() {
        guard !isReading, !isAtEnd, isConnected else { return }
        isReading = true
        do {
            try transport.startReading()
        } catch {
            transportBroke(error)
        }
    }

    private func pauseReadingIfFull() {
        guard unreadBytes >= limits.readHighWaterMark, isReading, !wantsBytes else { return }
        isReading = false
        transport.stopReading()
    }
}

extension ByteStream {
    package final func transportDidRead(_ data: Data) {
        transportDidRead(data.bytes) { data }
    }

    package final func transportDidRead(_ bytes: RawSpan, orAs data: () -> Data) {
        received += bytes.byteCount
        // Bytes that come during `close` are thrown away. So a peer that sends everything before it reads can
        // go on.
        guard phase == .open else { return didDiscard() }
        exchange = .unanswered
        if let reader, !hasUnread, reader.receive(bytes, orAs: data) {
            // In most cases there is nothing to watch. This check is cheaper than the call.
            if watch != nil || hasUnread { watchBytes() }
            return noteIdle()
        }
        // A decoder may have closed the stream.
        guard phase == .open else { return didDiscard() }
        let waitsForTurn = isGivingWay && hasUnread
        inbound.append(data())
        if !waitsForTurn { reader?.inboundChanged() }
        pauseReadingIfFull()
        watchBytes()
    }

    package func transportDidReachEnd() {
        isAtEnd = true
        buffer?.isAtEnd = true
        if !isGivingWay || !hasUnread { reader?.inboundChanged() }
        watch?.limitsEnded()
        if phase == .lingering { closeWhenAcknowledged() }
    }
}
