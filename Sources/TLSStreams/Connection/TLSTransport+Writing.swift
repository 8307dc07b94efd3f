internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// Writing: which records the bytes go into, and when the underlying stream gets them.
extension TLSTransport: TurnEnding {
    /// Writes of fewer bytes are gathered until the end of the turn, so that they share a record.
    private static let smallWrite = 4096
    private static let largestRecord = 16_384
    /// The size of a connection's first records. They are small so that the peer can use the first bytes early.
    static let firstRecords = 4096
    private static let bytesInFirstRecords = 65_536

    func tryWrite(_ bytes: RawSpan) throws -> Int {
        guard hasRoom else { return 0 }
        if bytes.byteCount < Self.smallWrite, stream?.gathersWrites != true { return gather(bytes) }
        flushSmall()
        return try encrypt(bytes)
    }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        var taken = 0
        for buffer in buffers where !buffer.isEmpty {
            let count = try tryWrite(buffer.bytes)
            taken += count
            if count < buffer.count { break }
        }
        return taken
    }

    func write(_ buffers: [Data]) {
        flushSmall()
        bytesInBatch = buffers.totalCount
        do {
            for buffer in buffers where !buffer.isEmpty { try put(buffer.bytes) }
        } catch {
            return core.later { [self] in didWrite(.failure(error)) }
        }
        engine.takeOutput { inner.write($0) }.whenComplete { [self] result in didWrite(result) }
    }

    private func didWrite(_ result: Result<Void, any Error>) {
        guard !isClosed else { return }
        bytesInBatch = 0
        stream?.transportDidWrite(failure: result.thrownError)
    }

    var unwrittenBytes: Int { min(bytesInBatch, inner.bufferedBytes) }

    func shutdownWrite() {
        tellEnd()
        inner.shutdownWrite().whenComplete { [self] result in
            if !isClosed { stream?.transportDidShutdown(failure: result.thrownError) }
        }
    }

    /// Whether the system has taken everything that was written before.
    private var hasRoom: Bool { inner.bufferedBytes == 0 && failure == nil && !hasToldEnd }

    private func gather(_ bytes: RawSpan) -> Int {
        if small.isEmpty { core.atTurnEnd(self) }
        small.append(copying: bytes)
        if small.count >= Self.largestRecord { flushSmall() }
        return bytes.byteCount
    }

    private func flushSmall() {
        guard !small.isEmpty, !isClosed else { return }
        let bytes = exchange(&small, with: [])
        // A connection that cannot encrypt has failed, and reports this.
        do { try bytes.lend { try put($0) } } catch { return core.later { [self] in fail(error) } }
        flush()
    }

    func turnEnds() {
        guard !isClosed else { return }
        flushSmall()
        flush()
    }

    /// Passes the encrypted bytes to the underlying stream at the end of the turn, together with what is written until
    /// then.
    func flushLater() { core.atTurnEnd(self) }

    /// Encrypts and writes as many of `bytes` as the underlying stream takes without waiting.
    private func encrypt(_ bytes: RawSpan) throws -> Int {
        var taken = 0
        while taken < bytes.byteCount, inner.bufferedBytes == 0 {
            let part = bytes.extracting(droppingFirst: taken).extracting(first: DecryptionBlock.size)
            try put(part)
            flush()
            taken += part.byteCount
        }
        return taken
    }

    /// Encrypts `bytes` into the output.
    private func put(_ bytes: RawSpan) throws {
        var rest = bytes
        while !rest.isEmpty {
            // The record size changes between two writes only: OpenSSL keeps its record buffer within a write.
            let left = hasLargeRecords ? .max : Self.bytesInFirstRecords - writtenBytes
            let part = rest.extracting(first: left)
            switch engine.write(part) {
            case .done(let count):
                rest = rest.extracting(droppingFirst: count)
                noteWritten(count)
            case .failed(let failure): throw error(failure.reason, failure)
            default:
                throw TLSError(.protocolViolation, peer: peer, detail: "the connection cannot be written to")
            }
        }
    }

    private func noteWritten(_ count: Int) {
        guard !hasLargeRecords else { return }
        writtenBytes += count
        guard writtenBytes >= Self.bytesInFirstRecords else { return }
        hasLargeRecords = true
        engine.setRecordSize(Self.largestRecord)
    }

    /// Passes the encrypted bytes to the underlying stream. If that stream has broken, it reports this itself.
    func flush() {
        if engine.hasOutput { engine.takeOutput { inner.write($0) }.ignoreFailure() }
    }

    /// Sends `close_notify` after everything that was written.
    func tellEnd() {
        flushSmall()
        guard !hasToldEnd else { return }
        hasToldEnd = true
        engine.tellEnd()
        flush()
    }
}
