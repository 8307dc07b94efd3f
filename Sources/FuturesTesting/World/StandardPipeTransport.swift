internal import ByteStreams
internal import FoundationEssentials
internal import SystemIO

/// A program's end of a standard stream. Both ends of a standard stream of a child process are such ends.
final class StandardPipeTransport: SimulatedHandle {
    private let pipe: StandardPipe
    let writes: Bool
    /// Whether the end belongs to the stream of a child process.
    private let isOfChild: Bool
    /// Whether other ends stay open when this one is closed.
    private let isShared: Bool
    private unowned(unsafe) var stream: ByteStream?
    private var isReading = false
    private var pending = PendingWrite()

    init(
        _ pipe: StandardPipe, _ driver: VirtualDriver, writes: Bool, isOfChild: Bool = false,
        isShared: Bool = true
    ) {
        self.pipe = pipe
        self.writes = writes
        self.isOfChild = isOfChild
        self.isShared = isShared
        super.init(driver)
        pipe.add(self)
    }

    override var line: String {
        "\(pipe.name), "
            + (writes
                ? "\(isClosing ? 0 : unwrittenBytes) bytes unsent" : isReading ? "reading" : "not reading")
    }

    override var usesDescriptor: Bool { !isOfChild }

    override func willClose() {
        isReading = false
        pending.drop()
        pipe.remove(self)
        guard !isShared else { return }
        if writes { pipe.endWriting() } else { pipe.abandon() }
    }

    override func look() { loop.turn { read() } }

    override func didClose() {
        unsafe stream?.transportDidClose()
        if !isOfChild { pipe.isInUse = false }
    }
}

extension StandardPipeTransport: StreamCarrier {
    func serve(_ stream: ByteStream?) { unsafe self.stream = stream }

    // MARK: Reading

    func startReading() {
        isReading = true
        contentsChanged()
    }

    func stopReading() { isReading = false }

    /// Reads in a separate event, if there is something to read.
    func contentsChanged() { if isReading, !pipe.unread.isEmpty || pipe.hasEnded { lookSoon() } }

    private func read() {
        guard isReading else { return }
        guard pipe.unread.isEmpty else {
            let bytes = pipe.take(most: simulation.mostToRead())
            pipe.note("reads its", bytes)
            unsafe stream?.transportDidRead(bytes)
            return contentsChanged()
        }
        isReading = false
        unsafe stream?.transportDidReachEnd()
    }

    // MARK: Writing

    func tryWrite(_ bytes: RawSpan) throws -> Int { try tryWrite([Data(copying: bytes)]) }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        guard !pipe.isAbandoned else { throw SystemError(.brokenPipe, "write") }
        // After the end, the descriptor stands for /dev/null, which takes everything.
        if pipe.hasEnded { return buffers.totalCount }
        return buffers.reduce(0) { taken, buffer in
            let part = Data(buffer.prefix(pipe.room))
            guard !part.isEmpty else { return taken }
            pipe.note("writes its", part)
            pipe.append(part)
            return taken + part.count
        }
    }

    func write(_ buffers: [Data]) {
        pending.begin(buffers)
        roomChanged()
    }

    /// Continues a pending `write` in a separate event.
    func roomChanged() { if pending.isWaiting { soon { [self] in goOnWriting() } } }

    private func goOnWriting() {
        if pending.goOn(tryWrite) { unsafe stream?.transportDidWrite(failure: pending.failure) }
    }

    var unwrittenBytes: Int { pending.byteCount }

    func shutdownWrite() {
        pipe.endWriting()
        soon { [self] in unsafe stream?.transportDidShutdown(failure: nil) }
    }

    func close(resetting: Bool) { close() }
}
