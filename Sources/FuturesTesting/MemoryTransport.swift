internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// One end of a connection in memory, as a transport of a `ByteStream`. It is alive until it has been closed.
final class MemoryTransport: ByteTransport {
    let loop: LoopCore
    let link: MemoryLink
    weak var stream: ByteStream?
    private let outgoing: MemoryLink.Direction
    /// The promise that completes when the end is closed, by the end of the loop too.
    private let life: Promise<Void>

    private var isReading = false
    /// The task that receives the next item, when it comes.
    private var reception: ScheduledTask<Void>?
    private var batch: [Data] = []
    /// Whether `write` waits for its answer.
    private var isWriting = false
    private var hasEnded = false
    private var isClosed = false
    private var notice: ScheduledTask<Void>?

    init(_ link: MemoryLink, sends outgoing: MemoryLink.Direction) {
        self.link = link
        self.outgoing = outgoing
        loop = link.loop
        life = loop.makePromise()
        link.connect(self, sends: outgoing)
        life.future.whenComplete { [self] _ in
            if !isClosed { close(resetting: true) }
            stream?.transportDidClose()
        }
    }

    // MARK: Reading

    func startReading() {
        isReading = true
        incomingChanged()
    }

    func stopReading() {
        isReading = false
    }

    /// Receives the first item when it comes.
    func incomingChanged() {
        guard !isClosed, let (item, arrival) = link.next(outgoing.opposite) else { return }
        if case .reset = item {} else if !isReading { return }
        reception?.cancel()
        reception = loop.schedule(at: arrival) { [self] in receive() }
        reception?.future.ignoreFailure()
    }

    /// Receives one thing at a time, as from a system.
    private func receive() {
        reception = nil
        guard !isClosed, let (item, _) = link.next(outgoing.opposite) else { return }
        switch item {
        case .bytes(let data):
            guard isReading else { return }
            link.takeNext(outgoing.opposite)
            incomingChanged()
            stream?.transportDidRead(data)
        case .end:
            guard isReading else { return }
            isReading = false
            link.takeNext(outgoing.opposite)
            incomingChanged()
            stream?.transportDidReachEnd()
        case .reset: stream?.transportDidFail(MemoryStreamError.connectionReset)
        }
    }

    var losesIfNotHeardOut: Bool { !link.hasEnded(outgoing.opposite) }

    func takeUndelivered() -> [Data] {
        var blocks: [Data] = []
        while link.hasArrived(outgoing.opposite), case .bytes(let data)? = link.next(outgoing.opposite)?.item
        {
            blocks.append(data)
            link.takeNext(outgoing.opposite)
        }
        return blocks
    }

    // MARK: Writing

    func tryWrite(_ bytes: RawSpan) throws -> Int { try tryWrite([Data(copying: bytes)]) }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        guard !link.isReset(outgoing.opposite) else { throw MemoryStreamError.connectionReset }
        return buffers.reduce(0) { taken, buffer in
            let part = buffer.prefix(link.room(outgoing))
            if !part.isEmpty { link.send(part, outgoing) }
            return taken + part.count
        }
    }

    func write(_ buffers: [Data]) {
        batch = buffers
        isWriting = true
        roomChanged()
    }

    func roomChanged() {
        if isWriting { later { $0.goOnWriting() } }
    }

    /// Fails a write that waits for room, though there may be something to be read before the reset. Also fails a
    /// connection on which nobody reads.
    func resetUnderWay(until arrival: LoopInstant) {
        loop.schedule(at: arrival) { [self] in
            goOnWriting()
            if !isReading, !isClosed { stream?.transportDidFail(MemoryStreamError.connectionReset) }
        }.future.ignoreFailure()
    }

    private func goOnWriting() {
        guard isWriting, !isClosed else { return }
        do {
            var taken = try tryWrite(batch)
            while let first = batch.first, taken > 0 {
                let part = min(taken, first.count)
                batch[0] = first.dropFirst(part)
                taken -= part
                if batch[0].isEmpty { batch.removeFirst() }
            }
            guard batch.isEmpty else { return }
            isWriting = false
            stream?.transportDidWrite(failure: nil)
        } catch {
            isWriting = false
            stream?.transportDidWrite(failure: error)
        }
    }

    var unwrittenBytes: Int { batch.reduce(0) { $0 + $1.count } }

    func shutdownWrite() {
        sendEnd()
        later { $0.stream?.transportDidShutdown(failure: nil) }
    }

    private func sendEnd() {
        guard !hasEnded else { return }
        hasEnded = true
        link.sendEnd(outgoing)
    }

    /// Calls `body` later, never within a call of the stream.
    private func later(_ body: @escaping (MemoryTransport) -> Void) {
        loop.schedule(after: .zero) { [self] in if !isClosed { body(self) } }.future.ignoreFailure()
    }

    /// Notes that what was sent is lost. The system gives up after a while.
    func isNotAcknowledged(within limit: Duration) {
        guard notice == nil, !isClosed else { return }
        notice = loop.schedule(after: limit) { [self] in
            stream?.transportDidFail(MemoryStreamError.timedOut)
        }
        notice?.future.ignoreFailure()
    }

    // MARK: Closing

    func close(resetting: Bool) {
        guard !isClosed else { return }
        if resetting || link.hasArrived(outgoing.opposite) { link.sendReset(outgoing) } else { sendEnd() }
        isClosed = true
        isReading = false
        batch = []
        reception?.cancel()
        notice?.cancel()
        link.abandon(outgoing.opposite)
        life.succeed()
    }
}
