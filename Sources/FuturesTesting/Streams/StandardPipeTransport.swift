internal import ByteStreams
internal import FoundationEssentials
internal import Futures
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
    private var isLookingAgain = false
    private var batch: [Data] = []
    /// Whether a `write` has not completed yet.
    private var isWriting = false

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

    override func vanish() { close() }

    override func willClose() {
        isReading = false
        batch = []
        pipe.remove(self)
        guard !isShared else { return }
        if writes { pipe.endWriting() } else { pipe.abandon() }
    }

    override func didClose() { unsafe stream?.transportDidClose() }
}

extension StandardPipeTransport: StreamCarrier {
    func serve(_ stream: ByteStream?) { unsafe self.stream = stream }

    // MARK: Reading

    func startReading() {
        isReading = true
        lookSoon()
    }

    func stopReading() { isReading = false }

    /// Reads in a separate event, if there is something to read.
    func lookSoon() {
        guard isReading, !isLookingAgain, !pipe.unread.isEmpty || pipe.hasEnded else { return }
        isLookingAgain = true
        simulation.call { [self] in
            whenAwake { [self] in
                isLookingAgain = false
                driver.deliver(read)
            }
        }
    }

    private func read() {
        guard isReading else { return }
        guard pipe.unread.isEmpty else {
            let bytes = pipe.take(most: simulation.mostToRead())
            pipe.note("reads its", bytes)
            unsafe stream?.transportDidRead(bytes)
            return lookSoon()
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
        batch = buffers
        isWriting = true
        roomChanged()
    }

    /// Continues a pending `write` in a separate event.
    func roomChanged() { if isWriting { answerSoon { $0.goOnWriting() } } }

    private func goOnWriting() {
        guard isWriting else { return }
        var failure: (any Error)?
        do {
            batch = batch.dropping(try tryWrite(batch))
            guard batch.isEmpty else { return }
        } catch {
            failure = error
        }
        isWriting = false
        unsafe stream?.transportDidWrite(failure: failure)
    }

    var unwrittenBytes: Int { batch.totalCount }

    func shutdownWrite() {
        pipe.endWriting()
        answerSoon { unsafe $0.stream?.transportDidShutdown(failure: nil) }
    }

    private func answerSoon(_ answer: @escaping (StandardPipeTransport) -> Void) {
        simulation.call { [self] in
            whenAwake { [self] in
                if !isClosing { driver.deliver { answer(self) } }
            }
        }
    }

    func close(resetting: Bool) { close() }
}
