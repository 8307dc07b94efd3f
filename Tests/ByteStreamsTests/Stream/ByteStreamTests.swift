import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct ByteStreamTests {
    @Test("a stream dropped unclosed is aborted, and reported in debug builds")
    func dropped() {
        let loop = EventLoop.virtual()
        var reported: [String] = []
        loop.onUnhandledFailure = { reported.append("\($0)") }
        let closed: Future<Void>
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            closed = stream.closed
            stream.write("a")
        }
        #expect(transport.stream == nil)
        #expect(transport.wasReset == true)
        #expect(closed.streamError == .droppedUnclosed)
        loop.advance(by: .zero)
        #if DEBUG
            #expect(
                reported == [
                    "a connection was dropped without close() and has been aborted; keep it until it is closed"
                ])
        #endif
    }

    @Test("a stream that is dropped takes its time limits with it")
    func droppedWithLimits() {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { #expect($0 as? StreamError == .droppedUnclosed) }
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(1)
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop, limits: limits)
            stream.write("a")
        }
        #expect(transport.wasReset == true)
        loop.advance(by: .seconds(10))
        expectNothingAlive(on: loop)
    }

    @Test("a stream that is dropped while it closes still tells its end")
    func droppedWhileClosing() {
        let loop = EventLoop.virtual()
        let transport: ScriptedTransport
        let closed: Future<Void>
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            closed = stream.close()
        }
        #expect(transport.wasReset == false && transport.stream != nil)
        transport.finishClose()
        #expect(closed.succeeded && transport.stream == nil)
    }

    @Test("the scope of a connection that has closed has ended")
    func scopeAfterEnd() {
        withStream { stream, transport, loop in
            stream.close()
            transport.finishClose()
            let ended = stream.scope.ended
            loop.advance(by: .zero)
            #expect(ended.isCompleted)
        }
    }

    @Test("a stream that both sides have finished may be dropped")
    func droppedWhenFinished() {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { Issue.record("\($0)") }
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            let end = stream.read()
            transport.deliverEnd()
            stream.shutdownWrite()
            transport.finishShutdown()
            #expect(end.now == Data())
        }
        loop.advance(by: .zero)
        #expect(transport.wasReset == false)
        expectNothingAlive(on: loop)
    }

    @Test(
        "a stream that was read to its end may be dropped, and is closed without a reset",
        arguments: Ending.allCases)
    func droppedAtEnd(_ ending: Ending) {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { Issue.record("\($0)") }
        let transport: ScriptedTransport
        var closed: Future<Void>?
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            closed = stream.closed
            stream.write("answer")
            let end = ending.read(stream)
            transport.deliver("ab\r\n")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(end.isCompleted)
        }
        loop.advance(by: .zero)
        #expect(transport.stream == nil)
        #expect(transport.wasReset == false)
        #expect(closed?.succeeded == true)
        closed = nil
        expectNothingAlive(on: loop)
    }

    enum Ending: CaseIterable {
        case read, exactly, until, line, toEnd, forEachChunk

        func read(_ stream: ByteStream) -> Future<Void> {
            switch self {
            case .read: stream.read().flatMap { _ in stream.read().asVoid() }
            case .exactly: stream.read(exactly: 4).flatMap { _ in stream.read(exactly: 4).asVoid() }
            case .until:
                stream.read(until: Data("\r\n")).flatMap { _ in stream.read(until: Data("\r\n")).asVoid() }
            case .line: stream.readLine().flatMap { _ in stream.readLine().asVoid() }
            case .toEnd: stream.readToEnd().asVoid()
            case .forEachChunk: stream.forEachChunk { _ in }
            }
        }
    }

    @Test("a stream that is dropped with bytes unread is aborted, even at its end")
    func droppedUnread() {
        let loop = EventLoop.virtual()
        var reported: [StreamError?] = []
        loop.onUnhandledFailure = { reported.append($0 as? StreamError) }
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            let first = stream.read(exactly: 1)
            transport.deliver("ab")
            transport.deliverEnd()
            #expect(first.now == Data("a"))
        }
        loop.advance(by: .zero)
        #expect(transport.wasReset == true)
        #if DEBUG
            #expect(reported == [.droppedUnclosed])
        #endif
    }

    @Test("a pending operation keeps the stream alive until it is done", arguments: Pending.allCases)
    func pendingKeepsAlive(_ pending: Pending) {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { #expect($0 as? StreamError == .droppedUnclosed) }
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            transport.room = 0
            pending.start(stream)
        }
        #expect(transport.stream != nil)
        loop.advance(by: .seconds(1))
        #expect(transport.stream != nil)
        #expect(transport.wasReset == nil)
        pending.finish(transport)
        loop.advance(by: .zero)
        #expect(transport.stream == nil)
        expectNothingAlive(on: loop)
    }

    enum Pending: CaseIterable {
        case read, forEachChunk, write, gatheredWrite, shutdown, close

        func start(_ stream: ByteStream) {
            switch self {
            case .read: _ = stream.read()
            case .forEachChunk: _ = stream.forEachChunk { _ in }
            case .write: stream.write("a")
            case .gatheredWrite:
                stream.gathersWrites = true
                stream.write("a")
            case .shutdown: stream.shutdownWrite()
            case .close:
                stream.write("a")
                stream.close()
            }
        }

        func finish(_ transport: ScriptedTransport) {
            switch self {
            case .read: transport.deliver("a")
            case .forEachChunk: transport.deliverEnd()
            case .write, .gatheredWrite: transport.finishWrite()
            case .shutdown: transport.finishShutdown()
            case .close:
                transport.finishWrite()
                transport.finishClose()
            }
        }
    }
}
