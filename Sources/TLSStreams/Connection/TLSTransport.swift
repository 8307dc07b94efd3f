internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// The transport of an encrypted connection. Its bytes go through OpenSSL, and then through `inner`, the stream
/// beneath, which belongs to it from the handshake on.
final class TLSTransport: ByteTransport, TurnEnding {
    /// Writes of fewer bytes are put together until the end of the turn, so that they share a record.
    private static let smallWrite = 4096
    private static let largestRecord = 16_384
    /// The records of a connection begin small, so that the peer can use the first bytes early.
    private static let firstRecords = 4096
    private static let bytesInFirstRecords = 65_536
    /// The bytes of answers of the protocol that may wait before this side reads on.
    private static let mostAnswers = 4096

    let inner: ByteStream
    let context: TLSContext
    let engine: OpenSSLConnection
    private let core: LoopCore
    weak var stream: TLSConnection?
    /// The handshake, as long as it is under way.
    var handshake: TLSHandshake?

    private var isReading = false
    /// Encrypted bytes that OpenSSL has not taken, because nobody read.
    private var kept = Data()
    /// The promise for which the stream beneath waits before it brings more bytes.
    private var pause: Promise<Void>?
    /// Whether the rest is decrypted in the next turn, because others have to have their turn.
    private var isGivingWay = false
    /// The bytes of answers of the protocol, such as to a request for new keys, that the peer has not taken.
    private var unsentAnswers = 0
    /// The small writes of this turn.
    private var small: [UInt8] = []
    private var writtenBytes = 0
    private var hasLargeRecords = false
    /// The bytes of the `write` that is under way.
    private var bytesInBatch = 0
    /// The error of the protocol that has ended the connection.
    private var failure: (any Error)?
    private var peerHasEnded = false
    private var hasToldEnd = false
    private(set) var isClosed = false

    /// Creates a transport over `inner`, of which `bytes` have been read.
    init(_ inner: ByteStream, _ context: TLSContext, _ engine: OpenSSLConnection, after bytes: Data) {
        self.inner = inner
        kept = bytes
        self.context = context
        self.engine = engine
        core = inner.core
        engine.setRecordSize(Self.firstRecords)
    }

    /// Begins to take the bytes of the stream beneath. Throws an error if it cannot be read.
    func begin() throws {
        let bytes = inner.forEachSpan { [self] bytes in receive(bytes) }.ignoreFailure()
        if case .failure(let error) = bytes.result { throw error }
        bytes.whenComplete { [self] result in
            if case .failure(let error) = result { innerBroke(error) } else { innerEnded() }
        }
        inner.onClosed = { [self] failure in stream?.transportDidClose(losing: failure) }
    }

    // MARK: Bytes of the peer

    private func receive(_ bytes: RawSpan) -> Future<Void> {
        let left = engine.lend(bytes) { proceed() }
        if isClosed { return core.succeeded() }
        if left > 0 { kept.append(Data(copying: bytes.extracting(last: left))) }
        guard needsPause else { return core.succeeded() }
        let promise = core.makePromise(of: Void.self)
        pause = promise
        return promise.future
    }

    private var needsPause: Bool {
        if let handshake { return handshake.isWaiting }
        return !mayDecrypt && !peerHasEnded && failure == nil && !isClosed
    }

    private var mayDecrypt: Bool { isReading && !isGivingWay && unsentAnswers <= Self.mostAnswers }

    /// Goes on with what has come.
    private func proceed() {
        if let handshake { handshake.proceed() } else { pump() }
    }

    /// Goes on with what was kept, and lets the stream beneath bring more.
    func resume() {
        guard !isClosed else { return }
        let bytes = kept
        kept = Data()
        let left = engine.lend(bytes.bytes) { proceed() }
        guard !isClosed else { return }
        if left > 0 { kept = Data(bytes.suffix(left)) }
        if !needsPause { pause.take()?.succeed() }
    }

    /// Decrypts, and passes the bytes on, as long as somebody reads.
    private func pump() {
        while mayDecrypt, !isClosed, !peerHasEnded, failure == nil {
            var last = OpenSSLConnection.Step.wantsInput
            context.withBlock { block in
                let count: Int
                (count, last) = block.fill(from: engine)
                if count > 0 {
                    block.lend(count) { bytes in stream?.transportDidRead(bytes) { block.take(count) } }
                }
            }
            if isClosed { return }
            answer()
            switch last {
            case .done where core.isTurnSpent: giveWay()
            case .done: continue
            case .failed(let failure): return broke(failure)
            case .ended where isReading: return reachedEnd()
            default: return
            }
        }
    }

    private func giveWay() {
        isGivingWay = true
        core.later(on: .nextTurn) { [self] in
            isGivingWay = false
            core.watchTurn(until: core.endOfShare)
            resume()
        }
    }

    /// Sends what the protocol answers by itself. A peer that makes it answer without end, and takes nothing, is not read
    /// meanwhile. Bytes of the user do not count: both sides may write before they read.
    private func answer() {
        guard engine.hasOutput else { return }
        let (size, write) = engine.takeOutput { ($0.byteCount, inner.write($0)) }
        if case .success? = write.result { return }
        unsentAnswers += size
        write.whenComplete { [self] _ in
            unsentAnswers -= size
            resume()
        }
    }

    private func reachedEnd() {
        peerHasEnded = true
        isReading = false
        stream?.transportDidReachEnd()
    }

    private func broke(_ failure: OpenSSLFailure) {
        let reason = failure.isEnd ? TLSError.Reason.truncated : failure.reason
        fail(error(reason, failure))
    }

    func error(_ reason: TLSError.Reason, _ failure: OpenSSLFailure) -> TLSError {
        TLSError(reason, peer: peer, certificate: failure.certificate, detail: failure.text)
    }

    /// The name of the peer in errors.
    var peer: String { (inner as? any CustomStringConvertible)?.description ?? "\(type(of: inner))" }

    private func fail(_ error: any Error) {
        guard failure == nil, !isClosed else { return }
        failure = error
        isReading = false
        stream?.transportDidFail(error)
    }

    private func innerEnded() {
        guard !isClosed, !peerHasEnded else { return }
        engine.inputEnded()
        proceed()
    }

    private func innerBroke(_ error: any Error) {
        guard !isClosed else { return }
        if let handshake { handshake.fail(error) } else { fail(error) }
    }

    // MARK: ByteTransport, reading

    func startReading() {
        isReading = true
        core.later { [self] in if isReading { resume() } }
    }

    func stopReading() { isReading = false }

    func takeUndelivered() -> [Data] {
        var blocks: [Data] = []
        func decrypt(_ bytes: Data) {
            _ = engine.lend(bytes.bytes) {
                context.withBlock { block in
                    var last: OpenSSLConnection.Step
                    repeat {
                        let count: Int
                        (count, last) = block.fill(from: engine)
                        if count > 0 { blocks.append(block.take(count)) }
                    } while last.isDone
                }
            }
        }
        decrypt(kept)
        kept = Data()
        guard inner.failure != nil else { return blocks }
        while case .success(let chunk)? = inner.read().result, !chunk.isEmpty { decrypt(chunk) }
        return blocks
    }

    var losesIfNotHeardOut: Bool { inner.transport.losesIfNotHeardOut }
    var unacknowledgedBytes: Int { inner.transport.unacknowledgedBytes }
    var hasArrivals: Bool { inner.transport.hasArrivals }
    func noteCut() { inner.noteCut() }
    var handling: OutcomeWait? { inner.handling ?? inner.transport.handling }

    // MARK: ByteTransport, writing

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
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        stream?.transportDidWrite(failure: failure)
    }

    var unwrittenBytes: Int { min(bytesInBatch, inner.bufferedBytes) }

    func shutdownWrite() {
        tellEnd()
        inner.shutdownWrite().whenComplete { [self] result in
            guard !isClosed else { return }
            if case .failure(let error) = result { return stream?.transportDidShutdown(failure: error) ?? () }
            stream?.transportDidShutdown(failure: nil)
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
        let bytes = small
        small = []
        // A connection that cannot encrypt has failed, and says so.
        do { try bytes.lend { try put($0) } } catch { return core.later { [self] in fail(error) } }
        flush()
    }

    func turnEnds() {
        guard !isClosed else { return }
        flushSmall()
        flush()
    }

    /// Gives what is encrypted to the stream beneath at the end of the turn, with what is written until then.
    func flushLater() { core.atTurnEnd(self) }

    /// Encrypts and writes as many of `bytes` as the stream beneath takes without waiting.
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
            // The size of records changes between two writes: OpenSSL keeps its memory for records within one.
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

    /// Gives what is encrypted to the stream beneath. If that has broken, it says so itself.
    func flush() {
        if engine.hasOutput { engine.takeOutput { inner.write($0) }.ignoreFailure() }
    }

    /// Sends `close_notify` after everything that was written.
    private func tellEnd() {
        flushSmall()
        guard !hasToldEnd else { return }
        hasToldEnd = true
        engine.tellEnd()
        flush()
    }

    // MARK: Ends

    func close(resetting: Bool) {
        guard !isClosed else { return }
        if resetting, !(failure is TLSError) {
            isClosed = true
            inner.abort()
        } else {
            // If the end was told before, and the peer has not answered, then the time for that is over.
            let isOver = hasToldEnd && !peerHasEnded && !inner.isAborted
            if failure == nil { tellEnd() }
            flush()
            isClosed = true
            // After the end that TLS tells, a peer sends nothing that a reset would punish.
            inner.end(within: isOver ? .zero : inner.limits.closeTimeout, hearingPeerOut: !peerHasEnded)
        }
        release()
    }

    /// Ends the connection during the handshake.
    func giveUp(resetting: Bool) {
        guard !isClosed else { return }
        flush()
        isClosed = true
        if resetting { inner.abort() } else { inner.close() }
        release()
    }

    private func release() {
        handshake = nil
        kept = Data()
        small = []
        pause.take()?.succeed()
    }
}
