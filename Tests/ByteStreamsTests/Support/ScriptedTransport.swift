import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct Broken: Error, Equatable {}

/// A transport in memory that does what the test says, and writes down what the stream asks of it.
final class ScriptedTransport: ByteTransport {
    let loop: EventLoop
    weak var stream: ByteStream?

    /// What the peer has sent and the stream has not taken, as a system would buffer it.
    private var incoming: [Data] = []
    private var hasEnded = false
    private(set) var isReading = false
    private(set) var timesStarted = 0
    private(set) var timesStopped = 0

    /// How many bytes `tryWrite` takes before it would have to wait.
    var room = Int.max
    var writeError: (any Error)?
    var readError: (any Error)?
    /// How often bytes were lent, not given.
    private(set) var spansLent = 0
    /// How often `tryWrite` was called.
    private(set) var writes = 0
    /// The sizes of the buffers of the last `tryWrite`.
    private(set) var parts: [Int] = []
    /// What has reached the peer.
    var sent = Data()
    /// The batch that is being written, and how much of it has left.
    private(set) var batch: [Data]?
    var leftOfBatch = 0
    private(set) var batches: [Int] = []

    private(set) var shutdowns = 0
    /// How it was closed, if it was.
    private(set) var wasReset: Bool?
    private var isClosed = false

    init(_ loop: EventLoop) { self.loop = loop }

    // MARK: The peer

    func deliver(_ data: Data) {
        if !data.isEmpty { incoming.append(data) }
        pump()
    }

    func deliver(_ text: String) { deliver(Data(text.utf8)) }

    func deliverEnd() {
        hasEnded = true
        pump()
    }

    func fail(_ error: any Error = Broken()) {
        stream?.transportDidFail(error)
        loop.core.turn {}
    }

    private func pump() {
        while isReading, !incoming.isEmpty {
            let data = incoming.removeFirst()
            var isCopied = false
            stream?.transportDidRead(data.bytes) {
                #expect(!isCopied, "the bytes are handed over once")
                isCopied = true
                return data
            }
            if !isCopied { spansLent += 1 }
        }
        if isReading, hasEnded {
            isReading = false
            stream?.transportDidReachEnd()
        }
        loop.core.turn {}
    }

    /// Everything in the batch leaves.
    func finishWrite(failure: (any Error)? = nil) {
        guard let batch else {
            Issue.record("nothing is being written")
            return
        }
        self.batch = nil
        if failure == nil { for buffer in batch { sent.append(buffer) } }
        stream?.transportDidWrite(failure: failure)
        loop.core.turn {}
    }

    func finishAllWrites() {
        while batch != nil { finishWrite() }
    }

    func finishShutdown(failure: (any Error)? = nil) {
        stream?.transportDidShutdown(failure: failure)
        loop.core.turn {}
    }

    func finishClose(losing error: (any Error)? = nil) {
        guard wasReset != nil, !isClosed else { return }
        isClosed = true
        stream?.transportDidClose(losing: error)
        loop.core.turn {}
    }

    /// What a loop does at `shutdown()`.
    func closeByItself() {
        wasReset = true
        finishClose()
    }

    // MARK: ByteTransport

    func startReading() throws {
        if let readError { throw readError }
        isReading = true
        timesStarted += 1
        loop.submit { [weak self] in self?.pump() }.ignoreFailure()
    }

    func stopReading() {
        isReading = false
        timesStopped += 1
    }

    /// Unless the peer has finished, it is as with a socket.
    var isSocket = false
    var losesIfNotHeardOut: Bool { isSocket && !(hasEnded && incoming.isEmpty) }
    var unacknowledgedBytes = 0

    /// What a read would still find when the connection has broken.
    var undelivered: [Data] = []

    func takeUndelivered() -> [Data] {
        defer { undelivered = [] }
        return undelivered
    }

    func tryWrite(_ bytes: RawSpan) throws -> Int { try tryWrite([Data(copying: bytes)]) }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        #expect(batch == nil, "tryWrite while a write is pending")
        #expect(buffers.contains { !$0.isEmpty })
        if let writeError { throw writeError }
        writes += 1
        parts = buffers.map(\.count)
        var taken = 0
        for buffer in buffers {
            let part = buffer.prefix(room)
            sent.append(part)
            room -= part.count
            taken += part.count
        }
        return taken
    }

    func write(_ buffers: [Data]) {
        #expect(batch == nil, "write while a write is pending")
        #expect(wasReset == nil, "write after the end")
        #expect(!buffers.isEmpty && buffers.count <= 64 && buffers.allSatisfy { !$0.isEmpty })
        batch = buffers
        leftOfBatch = 0
        batches.append(buffers.count)
    }

    var unwrittenBytes: Int { (batch ?? []).reduce(0) { $0 + $1.count } - leftOfBatch }

    func shutdownWrite() {
        #expect(batch == nil && shutdowns == 0 && wasReset == nil)
        shutdowns += 1
    }

    func close(resetting: Bool) {
        #expect(wasReset == nil, "closed twice")
        wasReset = resetting
        isReading = false
    }
}

/// Gives `body` a stream over a scripted transport; afterwards aborts it and proves that nothing is left alive.
func withStream(
    limits: StreamLimits = StreamLimits(), _ body: (ByteStream, ScriptedTransport, EventLoop) throws -> Void
) rethrows {
    let loop = EventLoop.virtual(maxCallbacksPerInstant: max(100 * largeCount, 1_000_000))
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    weak var weakStream: ByteStream?
    weak var weakTransport: ScriptedTransport?
    do {
        let (stream, transport) = makeStream(on: loop, limits: limits)
        weakStream = stream
        weakTransport = transport
        try body(stream, transport, loop)
        stream.abort()
        transport.finishClose()
        loop.advance(by: .zero)
    }
    #expect(weakStream == nil)
    #expect(weakTransport == nil)
    #expect(unhandled.isEmpty, "\(unhandled)")
    expectNothingAlive(on: loop)
}

func makeStream(
    on loop: EventLoop, limits: StreamLimits = StreamLimits()
) -> (stream: ByteStream, transport: ScriptedTransport) {
    let transport = ScriptedTransport(loop)
    let stream = ByteStream(loop: loop.core, transport: transport, limits: .of(limits, on: loop.core))
    transport.stream = stream
    return (stream, transport)
}

func expectNothingAlive(on loop: EventLoop) {
    let alive = loop.statistics
    #expect(alive.futures == 0 && alive.promises == 0 && alive.timers == 0, "\(alive)")
}

extension Data {
    init(_ text: String) { self.init(text.utf8) }
}

extension Future {
    /// The value, if it is there now.
    var now: Value? { try? result?.get() }

    var succeeded: Bool {
        if case .success = result { true } else { false }
    }

    /// The error, if it is there now. Counts as having heard of it.
    var error: (any Error)? {
        if case .failure(let error) = ignoreFailure().result { error } else { nil }
    }

    var streamError: StreamError? { error as? StreamError }

    var wasCancelled: Bool { error is CancellationError }

    /// What the text of an invalid argument says.
    var complaint: String? {
        if case .invalidArgument(let text) = error as? FutureError { text } else { nil }
    }
}
