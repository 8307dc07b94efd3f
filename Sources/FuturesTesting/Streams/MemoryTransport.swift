internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// The transport of one end of a connection in memory. It stays alive until it has been closed.
final class MemoryTransport: ByteTransport {
    let loop: LoopCore
    let link: MemoryLink
    weak var stream: ByteStream?
    private let outgoing: MemoryLink.Wire
    private let incoming: MemoryLink.Wire
    /// The promise that completes when this end is closed, or when the loop is shut down.
    private let life: Promise<Void>

    private var isReading = false
    /// The task that receives the next item when it arrives.
    private var reception: ScheduledTask<Void>?
    private var pending = PendingWrite()
    private var isClosed = false
    /// The task that reports that the peer does not acknowledge the bytes that were sent.
    private var notice: ScheduledTask<Void>?

    /// Creates the transport of one end of `link`: end 0 or end 1.
    init(_ link: MemoryLink, end: Int) {
        self.link = link
        incoming = link.wires[1 - end]
        outgoing = link.wires[end]
        loop = link.loop
        life = loop.makePromise()
        incoming.reader = self
        outgoing.writer = self
        life.future.whenComplete { [self] _ in
            close(resetting: true)
            stream?.transportDidClose()
        }
    }

    // MARK: Reading

    func startReading() {
        isReading = true
        incomingChanged()
    }

    func stopReading() { isReading = false }

    /// Schedules a task that receives the next item when it arrives.
    func incomingChanged() {
        guard !isClosed, let (item, arrival) = incoming.next else { return }
        if case .reset = item {} else if !isReading { return }
        reception?.cancel()
        reception = loop.schedule(at: arrival) { [self] in receive() }
    }

    /// Receives one item, as a read of the system would.
    private func receive() {
        reception = nil
        guard !isClosed, let (item, _) = incoming.next else { return }
        if case .reset = item {
            stream?.transportDidFail(MemoryStreamError.connectionReset)
            return
        }
        guard isReading else { return }
        if case .end = item { isReading = false }
        link.takeNext(from: incoming)
        incomingChanged()
        if case .bytes(let data) = item {
            stream?.transportDidRead(data)
        } else {
            stream?.transportDidReachEnd()
        }
    }

    var losesIfNotHeardOut: Bool {
        if case .end? = link.arrived(on: incoming) { false } else { true }
    }

    func takeUndelivered() -> [Data] {
        var blocks: [Data] = []
        while case .bytes(let data)? = link.arrived(on: incoming) {
            blocks.append(data)
            link.takeNext(from: incoming)
        }
        return blocks
    }

    // MARK: Writing

    func tryWrite(_ bytes: RawSpan) throws -> Int { try tryWrite([Data(copying: bytes)]) }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        guard !link.isReset(incoming) else { throw MemoryStreamError.connectionReset }
        return buffers.reduce(0) { taken, buffer in
            let part = buffer.prefix(link.room(on: outgoing))
            if !part.isEmpty { link.send(part, on: outgoing) }
            return taken + part.count
        }
    }

    func write(_ buffers: [Data]) {
        pending.begin(buffers)
        roomChanged()
    }

    func roomChanged() {
        if pending.isWaiting { later { $0.goOnWriting() } }
    }

    /// Fails a pending write when the reset arrives at `arrival`, even if bytes from before the reset are left to read.
    /// Also reports the reset if this end does not read.
    func resetUnderWay(until arrival: LoopInstant) {
        loop.schedule(at: arrival) { [self] in
            goOnWriting()
            if !isReading, !isClosed { stream?.transportDidFail(MemoryStreamError.connectionReset) }
        }.future.ignoreFailure()
    }

    private func goOnWriting() {
        guard !isClosed else { return }
        // Uses a copy, because a write calls the other end.
        var write = pending
        let isOver = write.goOn(tryWrite)
        pending = write
        if isOver { stream?.transportDidWrite(failure: write.failure) }
    }

    var unwrittenBytes: Int { pending.byteCount }

    func shutdownWrite() {
        link.sendEnd(on: outgoing)
        later { $0.stream?.transportDidShutdown(failure: nil) }
    }

    /// Calls `body` in a later callback, and so never inside a call from the stream. Does not call `body` if this end
    /// has been closed by then.
    private func later(_ body: @escaping (MemoryTransport) -> Void) {
        loop.schedule(after: .zero) { [self] in if !isClosed { body(self) } }.future.ignoreFailure()
    }

    /// Records that the bytes that were sent are lost. The connection fails after `limit`, as in a real system.
    func isNotAcknowledged(within limit: Duration) {
        guard notice == nil, !isClosed else { return }
        notice = loop.schedule(after: limit) { [self] in
            stream?.transportDidFail(MemoryStreamError.timedOut)
        }
    }

    // MARK: Closing

    func close(resetting: Bool) {
        guard !isClosed else { return }
        let hasUnread = if case .bytes? = link.arrived(on: incoming) { true } else { false }
        if resetting || hasUnread { link.sendReset(on: outgoing) } else { link.sendEnd(on: outgoing) }
        isClosed = true
        isReading = false
        pending.drop()
        reception?.cancel()
        notice?.cancel()
        link.abandon(incoming)
        life.succeed()
    }
}
