internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// The transport of an encrypted connection. Its bytes go through OpenSSL, and then through `inner`, the underlying
/// stream, which belongs to it from the handshake on.
final class TLSTransport: ByteTransport {
    /// The most bytes of protocol answers that may be unsent. While there are more, this side does not read.
    private static let mostAnswers = 4096

    let inner: ByteStream
    let context: TLSContext
    let engine: OpenSSLConnection
    let core: LoopCore
    weak var stream: TLSConnection?
    /// The handshake while it is under way.
    var handshake: TLSHandshake?

    private var isReading = false
    /// Encrypted bytes that OpenSSL has not taken because nobody is reading.
    private var kept = Data()
    /// The promise that the underlying stream waits for before it delivers more bytes.
    private var pause: Promise<Void>?
    /// Whether decryption continues only in the next turn, so that others get their turn.
    private var isGivingWay = false
    /// The number of bytes of protocol answers, such as to a key update request, that the peer has not taken.
    private var unsentAnswers = 0
    /// The small writes of this turn.
    var small: [UInt8] = []
    var writtenBytes = 0
    var hasLargeRecords = false
    /// The number of bytes of the `write` that is under way.
    var bytesInBatch = 0
    /// The protocol error that has ended the connection.
    private(set) var failure: (any Error)?
    private var peerHasEnded = false
    var hasToldEnd = false
    private(set) var isClosed = false

    /// Creates a transport over `inner`, from which `bytes` have already been read.
    init(_ inner: ByteStream, _ context: TLSContext, _ engine: OpenSSLConnection, after bytes: Data) {
        self.inner = inner
        kept = bytes
        self.context = context
        self.engine = engine
        core = inner.core
        engine.setRecordSize(Self.firstRecords)
    }

    /// Starts reading the underlying stream. Throws an error if it cannot be read.
    func begin() throws {
        let bytes = inner.forEachSpan { [self] bytes in receive(bytes) }.ignoreFailure()
        if case .failure(let error) = bytes.result { throw error }
        bytes.whenComplete { [self] result in
            if case .failure(let error) = result { innerBroke(error) } else { innerEnded() }
        }
        inner.onClosed = { [self] failure in stream?.transportDidClose(losing: failure) }
    }

    // MARK: Bytes from the peer

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

    /// Processes the bytes that have arrived.
    private func proceed() {
        if let handshake { handshake.proceed() } else { pump() }
    }

    /// Processes the kept bytes, and lets the underlying stream deliver more.
    func resume() {
        guard !isClosed else { return }
        let bytes = exchange(&kept, with: Data())
        let left = engine.lend(bytes.bytes) { proceed() }
        guard !isClosed else { return }
        if left > 0 { kept = Data(bytes.suffix(left)) }
        if !needsPause { pause.take()?.succeed() }
    }

    /// Decrypts bytes and delivers them, as long as somebody reads.
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

    /// Sends the answers that the protocol makes by itself. While a peer causes more and more answers and does not take
    /// them, this side does not read. The user's bytes do not count: both sides may write before they read.
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

    func fail(_ error: any Error) {
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

    // MARK: Ends

    func close(resetting: Bool) {
        if resetting, !(failure is TLSError) {
            isClosed = true
            inner.abort()
        } else {
            // If `close_notify` was sent before, and the peer has not answered, its time to answer is over.
            let isOver = hasToldEnd && !peerHasEnded && !inner.isAborted
            if failure == nil { tellEnd() }
            flush()
            isClosed = true
            // A peer that has sent `close_notify` sends nothing more that would cause a reset.
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
