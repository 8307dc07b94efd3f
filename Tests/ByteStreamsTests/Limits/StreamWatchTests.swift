import FoundationEssentials
import Futures
import FuturesTesting
import Testing

@testable import ByteStreams

struct StreamWatchTests {
    /// How late a limit may pass.
    private static let slack = Duration.milliseconds(1_100)

    private func with(
        _ limits: StreamLimits = StreamLimits(),
        _ body: (ByteStream, ScriptedTransport, EventLoop) throws -> Void
    ) rethrows {
        try withStream(limits: limits, body)
    }

    private func limits(_ change: (inout StreamLimits) -> Void) -> StreamLimits {
        var limits = StreamLimits()
        change(&limits)
        return limits
    }

    @Test("a stream that is closed while its limits are to be judged does not come back to the wheel")
    func closedMeanwhile() {
        with { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let watch = stream.watch!
            #expect(watch.place.isTaken)
            stream.abort()
            watch.judge()
            #expect(!watch.place.isTaken)
        }
    }

    // MARK: Lifetime

    @Test(
        "a busy connection that has lasted for its lifetime is closed normally, and reset if bytes have not left"
    )
    func lifetime() {
        for isBehind in [false, true] {
            with(limits { $0.lifetime = .seconds(60) }) { stream, transport, loop in
                for second in 0..<60 {
                    #expect(stream.isOpen, "\(second) s")
                    let read = stream.read()
                    transport.deliver("x")
                    #expect(read.now == Data("x"))
                    stream.write("y")
                    loop.advance(by: .seconds(1))
                }
                if isBehind {
                    transport.room = 0
                    stream.write("late")
                }
                let read = stream.read()
                loop.advance(by: Self.slack)
                let unsent = isBehind ? 4 : 0
                let error = StreamError.timedOut(.lifetime, after: .seconds(60), unread: 0, unsent: unsent)
                #expect(read.streamError == error && (transport.wasReset == true) == isBehind)
                #expect(
                    "\(error)"
                        == "the connection was ended: it has lasted for 60.0 seconds, with 0 bytes unread and "
                        + "\(unsent) unsent; if the peer is not at fault, raise StreamLimits.lifetime")
            }
        }
    }

    // MARK: Framing

    @Test(
        "a framing read that has begun has 30 s from its first byte, however slowly the others come",
        arguments: FramingRead.allCases)
    func slowloris(_ kind: FramingRead) {
        with { stream, transport, loop in
            let read = kind.start(stream)
            loop.advance(by: .seconds(3600))
            #expect(!read.isCompleted, "nothing has begun")
            for second in 0..<30 {
                #expect(!read.isCompleted, "\(second) s")
                transport.deliver("x")
                loop.advance(by: .seconds(1))
            }
            loop.advance(by: Self.slack)
            let error = StreamError.timedOut(.framing, after: .seconds(30), unread: 30, unsent: 0)
            #expect(read.streamError == error)
            #expect(transport.wasReset == true)
            transport.finishClose()
            #expect(stream.closed.streamError == error)
            #expect(
                "\(error)" == """
                    the connection was ended: the peer did not complete what it had begun to send for 30.0 seconds, \
                    with 30 bytes unread and 0 unsent; if the peer is not at fault, raise StreamLimits.framingTimeout
                    """)
        }
    }

    @Test("messages that are complete in time never add up, however many follow each other")
    func manyMessages() {
        with { stream, transport, loop in
            for _ in 0..<100 {
                let line = stream.readLine()
                transport.deliver("a")
                loop.advance(by: .seconds(20))
                transport.deliver("b\nc")
                #expect(line.now == Data("ab"))
                #expect(stream.read().now == Data("c"))
            }
            #expect(transport.wasReset == nil)
        }
    }

    @Test("what was there before a read begins its time when the read does")
    func startsWithRead() {
        with { stream, transport, loop in
            stream.read().ignoreFailure()
            transport.deliver("ab")
            transport.deliver("c")
            loop.advance(by: .seconds(100))
            let line = stream.readLine()
            loop.advance(by: .seconds(29))
            #expect(!line.isCompleted)
            loop.advance(by: .seconds(1) + Self.slack)
            #expect(line.streamError == .timedOut(.framing, after: .seconds(30), unread: 1, unsent: 0))
        }
    }

    @Test("each 4096 bytes that come give a framing read another second")
    func rate() {
        with { stream, transport, loop in
            let read = stream.read(exactly: 1_000_000)
            for _ in 0..<60 {
                transport.deliver(Data(count: 4096))
                loop.advance(by: .seconds(1))
            }
            loop.advance(by: .seconds(29))
            #expect(!read.isCompleted)
            loop.advance(by: .seconds(1) + Self.slack)
            #expect(read.streamError == .timedOut(.framing, after: .seconds(30), unread: 245_760, unsent: 0))
        }
    }

    @Test("without a framingTimeout a read may take for ever")
    func noFramingTimeout() {
        with(limits { $0.framingTimeout = nil }) { stream, transport, loop in
            let line = stream.readLine()
            transport.deliver("x")
            loop.advance(by: .seconds(1_000_000))
            transport.deliver("\n")
            #expect(line.now == Data("x"))
        }
    }

    // MARK: Writing

    @Test("a peer that takes nothing for 30 s is given up, and one that takes a little is not")
    func slowReader() {
        with { stream, transport, loop in
            transport.room = 0
            let write = stream.write(Data(count: 1000))
            let next = stream.write("x")
            for taken in 1...20 {
                loop.advance(by: .seconds(29))
                transport.leftOfBatch = taken
            }
            #expect(!write.isCompleted)
            // A quarter later, because that it took something is looked at only so often.
            loop.advance(by: .milliseconds(37_500) + Self.slack + Self.slack)
            let error = StreamError.timedOut(.write, after: .seconds(30), unread: 0, unsent: 981)
            #expect(write.streamError == error && next.streamError == error)
            #expect(transport.wasReset == true)
        }
    }

    @Test(
        "to write more is no sign of a peer that takes something", arguments: [StreamTimeLimit.write, .idle])
    func addedWrites(_ limit: StreamTimeLimit) {
        let limits = limits {
            $0.writeTimeout = .seconds(30)
            if limit == .idle { ($0.writeTimeout, $0.idleTimeout) = (.seconds(1_000), .seconds(30)) }
        }
        with(limits) { stream, transport, loop in
            transport.room = 0
            for second in 0..<30 {
                stream.write("x").ignoreFailure()
                #expect(transport.wasReset == nil, "\(second) s")
                loop.advance(by: .seconds(1))
            }
            let write = stream.write("x")
            loop.advance(by: Self.slack)
            #expect(write.streamError == .timedOut(limit, after: .seconds(30), unread: 0, unsent: 31))
            #expect(transport.wasReset == true)
        }
    }

    @Test("what has left needs no time, and a stream that waits for nothing has no deadline")
    func writesEnd() throws {
        try with { stream, transport, loop in
            transport.room = 0
            stream.write("x")
            loop.advance(by: .seconds(25))
            transport.finishWrite()
            let start = loop.now
            try loop.run()
            #expect(loop.now == start, "a deadline was left")
            loop.advance(by: .seconds(1_000))
            transport.room = 0
            let write = stream.write("y")
            loop.advance(by: .seconds(29))
            #expect(!write.isCompleted)
            transport.finishWrite()
            #expect(write.succeeded)
        }
    }

    // MARK: Idleness, reads and handshakes

    @Test("there is no idle, read or handshake limit unless it is set")
    func offAtFirst() {
        with { stream, transport, loop in
            let read = stream.read()
            loop.advance(by: .seconds(1_000_000))
            #expect(!read.isCompleted && transport.wasReset == nil)
        }
    }

    @Test("an idle connection is closed without a reset, and says for how long nothing happened")
    func idle() {
        with(limits { $0.idleTimeout = .seconds(60) }) { stream, transport, loop in
            let chunks = stream.forEachChunk { _ in }
            for _ in 0..<10 {
                loop.advance(by: .seconds(55))
                transport.deliver("x")
                loop.advance(by: .seconds(55))
                stream.write("y")
            }
            loop.advance(by: .seconds(59))
            #expect(transport.wasReset == nil)
            loop.advance(by: .seconds(1) + Self.slack)
            #expect(transport.wasReset == false)
            let error = StreamError.timedOut(.idle, after: .seconds(60), unread: 0, unsent: 0)
            #expect(chunks.streamError == error)
            #expect(
                "\(error)".hasPrefix(
                    "the connection was ended: nothing was received or sent for 60.0 seconds, with 0"))
        }
    }

    @Test(
        "a connection on which nobody ever reads is idle too; bytes that this side leaves unread are no idleness"
    )
    func idleUnread() {
        with(limits { $0.idleTimeout = .seconds(60) }) { stream, transport, loop in
            loop.advance(by: .seconds(60) + Self.slack)
            #expect(transport.wasReset == false)
        }
        with(limits { $0.idleTimeout = .seconds(60) }) { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver("ab")
            #expect(first.succeeded)
            loop.advance(by: .seconds(1_000))
            #expect(transport.wasReset == nil)
            #expect(stream.read().now == Data("b"))
            loop.advance(by: .seconds(120) + Self.slack)
            #expect(transport.wasReset == false)
        }
    }

    @Test("a read that gets nothing in time ends the connection; without a read no time passes")
    func read() {
        with(limits { $0.readTimeout = .seconds(10) }) { stream, transport, loop in
            loop.advance(by: .seconds(100))
            for _ in 0..<5 {
                let read = stream.read()
                loop.advance(by: .seconds(9))
                transport.deliver("x")
                #expect(read.now == Data("x"))
                loop.advance(by: .seconds(100))
            }
            var promise: Promise<Void>? = loop.makePromise(of: Void.self)
            let chunks = stream.forEachChunk { _ in promise!.future }
            loop.advance(by: .seconds(9))
            transport.deliver("x")
            loop.advance(by: .seconds(100))
            #expect(!chunks.isCompleted, "the handler takes its time, not the peer")
            promise!.succeed()
            loop.advance(by: .seconds(9))
            #expect(!chunks.isCompleted)
            loop.advance(by: .seconds(1) + Self.slack)
            #expect(chunks.streamError == .timedOut(.read, after: .seconds(10), unread: 0, unsent: 0))
            promise = nil
        }
    }

    @Test("the first message has to come in time, the others need not", arguments: [true, false])
    func handshake(_ comes: Bool) {
        with(limits { $0.handshakeTimeout = .seconds(5) }) { stream, transport, loop in
            let line = stream.readLine()
            loop.advance(by: .seconds(4))
            transport.deliver(comes ? "hello\n" : "hell")
            loop.advance(by: .seconds(1) + Self.slack)
            if comes {
                #expect(line.now == Data("hello"))
                stream.read().ignoreFailure()
                loop.advance(by: .seconds(1_000))
                #expect(transport.wasReset == nil)
            } else {
                #expect(line.streamError == .timedOut(.handshake, after: .seconds(5), unread: 4, unsent: 0))
            }
        }
    }

    @Test("a first chunk is a first message")
    func handshakeByChunk() {
        with(limits { $0.handshakeTimeout = .seconds(5) }) { stream, transport, loop in
            let chunks = stream.forEachChunk { _ in }
            transport.deliver("x")
            loop.advance(by: .seconds(100))
            #expect(!chunks.isCompleted)
        }
    }

    @Test("what a pipe passes on ends the first limit, and begins the limit of a read anew")
    func pipe() {
        let limits = limits { ($0.handshakeTimeout, $0.readTimeout) = (.seconds(5), .seconds(10)) }
        with(limits) { stream, transport, loop in
            let (other, otherTransport) = makeStream(on: loop, limits: StreamLimits())
            let pipe = stream.pipe(to: other)
            for _ in 0..<5 {
                loop.advance(by: .seconds(4))
                transport.deliver("x")
            }
            loop.advance(by: .seconds(9))
            #expect(!pipe.isCompleted)
            loop.advance(by: .seconds(1) + Self.slack)
            #expect(pipe.streamError == .timedOut(.read, after: .seconds(10), unread: 0, unsent: 0))
            other.abort()
            otherTransport.finishClose()
        }
    }

    @Test("closing takes the stream out of all limits but its own")
    func closing() {
        with(limits { $0.idleTimeout = .seconds(1) }) { stream, transport, loop in
            transport.room = 0
            stream.write("x")
            let close = stream.close(within: .seconds(100))
            loop.advance(by: .seconds(99))
            #expect(transport.wasReset == nil)
            transport.finishWrite()
            transport.finishClose()
            #expect(close.succeeded)
        }
    }

    @Test("ten thousand streams with limits use no timer of their own")
    func manyStreams() {
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(30)
        let loop = EventLoop.virtual()
        do {
            let streams = (0..<10_000).map { _ in makeStream(on: loop, limits: limits) }
            #expect(loop.statistics.timers == 0)
            loop.advance(by: .seconds(32))
            #expect(streams.allSatisfy { $0.transport.wasReset == false })
            for (_, transport) in streams { transport.finishClose() }
        }
        expectNothingAlive(on: loop)
    }
}

enum FramingRead: CaseIterable {
    case exactly, until, line, toEnd

    func start(_ stream: ByteStream) -> Future<Void> {
        switch self {
        case .exactly: stream.read(exactly: 1000).map { _ in }
        case .until: stream.read(until: Data("\n")).map { _ in }
        case .line: stream.readLine().map { _ in }
        case .toEnd: stream.readToEnd().map { _ in }
        }
    }
}
