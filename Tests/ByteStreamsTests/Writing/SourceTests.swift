import FoundationEssentials
import Futures
import FuturesTesting
import Testing

@testable import ByteStreams

struct SourceTests {
    @Test("what a source brings stands between the writes before and after it, and counts as sent")
    func order() throws {
        let loop = EventLoop.virtual()
        let (sender, receiver) = try MemoryStream.pair(on: loop, capacity: 10)
        sender.write("before ")
        let source = Parts(["one ", "two ", "three "], on: loop)
        let written = sender.write(source)
        sender.write("after")
        sender.shutdownWrite()
        #expect(text(try loop.run(until: receiver.readToEnd())) == "before one two three after")
        try loop.run(until: written)
        #expect(sender.bytesSent == 26 && sender.bufferedBytes == 0)
        abort(sender, receiver)
    }

    @Test("a source that fails fails its write alone, and one without bytes has no effect")
    func fails() throws {
        let loop = EventLoop.virtual()
        let (sender, receiver) = try MemoryStream.pair(on: loop)
        let failing = Parts(["one "], failure: FutureError.message("no more"), on: loop)
        let failed = sender.write(failing)
        let empty = sender.write(Parts([], on: loop))
        sender.write("after")
        sender.shutdownWrite()
        #expect(text(try loop.run(until: receiver.readToEnd())) == "one after")
        #expect(throws: FutureError.message("no more")) { try loop.run(until: failed) }
        try loop.run(until: empty)
        abort(sender, receiver)
    }

    @Test(
        "what is begun when a source fails, or has been sent, loses nothing that was written",
        arguments: [false, true])
    func endsWithin(fails: Bool) {
        for aborts in [false, true] {
            withStream { stream, transport, loop in
                let failure = fails ? FutureError.message("no more") : nil
                let source = stream.write(Parts(["one "], failure: failure, on: loop))
                var other: Future<Void>?
                source.whenComplete(on: .immediate) { _ in
                    if aborts { stream.abort() } else { other = stream.write("other") }
                }
                let after = stream.write("after ")
                for _ in 0..<3 where transport.wasReset == nil {
                    loop.advance(by: .zero)
                    if transport.wasReset == nil { transport.finishAllWrites() }
                }
                #expect(transport.sent == Data(aborts ? "one " : "one after other"))
                #expect(after.succeeded != aborts && other?.succeeded == (aborts ? nil : true))
                after.ignoreFailure()
                source.ignoreFailure()
            }
        }
    }

    @Test(
        "a source keeps its place behind what is gathered while earlier bytes leave", arguments: [0, 3, 100])
    func behindGathered(room: Int) {
        withStream { stream, transport, loop in
            transport.room = room
            stream.gathersWrites = true
            var written: [Future<Void>] = []
            loop.later {
                stream.write("head ").ignoreFailure()
                stream.write("").whenSuccess(on: .immediate) {
                    transport.room = 0
                    written.append(stream.write("more "))
                    written.append(stream.write(""))
                }
                written.append(stream.write(Parts(["file "], on: loop)))
                written.append(stream.write("tail"))
            }
            for _ in 0..<6 {
                loop.advance(by: .zero)
                transport.finishAllWrites()
            }
            loop.advance(by: .zero)
            let sent = String(decoding: transport.sent, as: UTF8.self)
            #expect(sent == (room == 100 ? "head more file tail" : "head file tailmore "))
            let succeeded = written.filter(\.succeeded).count
            #expect(succeeded == 4 && stream.bufferedBytes == 0)
            // Nothing of it is left for the next stream.
            let (other, to) = makeStream(on: loop)
            other.gathersWrites = true
            to.room = 2
            other.write("answer").ignoreFailure()
            loop.advance(by: .zero)
            to.finishAllWrites()
            #expect(to.sent == Data("answer"))
            other.abort()
            to.finishClose()
        }
    }

    @Test("a write of a source that is cancelled before its turn never begins, and one at work is stopped")
    func cancelled() throws {
        let loop = EventLoop.virtual()
        let (sender, receiver) = try MemoryStream.pair(on: loop, capacity: 4)
        let (first, second) = (Parts(["one ", "two ", "three "], on: loop), Parts(["never"], on: loop))
        let writes = [sender.write(first), sender.write(second)]
        let last = sender.write("last")
        loop.advance(by: .seconds(1))
        #expect(writes[1].cancel() && writes[0].cancel())
        sender.shutdownWrite()
        let received = text(try loop.run(until: receiver.readToEnd()))
        #expect(received.hasPrefix("one ") && received.hasSuffix("last") && !received.contains("three"))
        try loop.run(until: last)
        #expect(!second.hasBegun && first.isStopped)
        abort(sender, receiver)
    }

    @Test("the time limit of writes runs while the peer takes nothing, and not while the source has nothing")
    func timeLimit() throws {
        let loop = EventLoop.virtual()
        var limits = StreamLimits()
        limits.writeTimeout = .seconds(10)
        limits.framingTimeout = nil
        let (sender, receiver) = try MemoryStream.pair(on: loop, limits: limits, capacity: 4)
        let slow = Parts(["1", "2", "3"], pause: .seconds(60), on: loop)
        let written = sender.write(slow)
        let read = receiver.read(exactly: 3)
        try loop.run(until: written)
        #expect(text(try loop.run(until: read)!) == "123")
        let stuck = sender.write(Parts([String(repeating: "x", count: 300_000)], on: loop))
        #expect(throws: StreamError.self) { try loop.run(until: stuck) }
        abort(sender, receiver)
    }

    @Test("a connection is not idle while a source sends past its stream")
    func past() {
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(60)
        withStream(limits: limits) { stream, transport, loop in
            let written = stream.write(Past())
            for _ in 0..<4 {
                loop.advance(by: .seconds(55))
                #expect(stream.isOpen)
                stream.noteSentBySource(10)
            }
            loop.advance(by: .seconds(59))
            #expect(stream.isOpen && stream.bytesSent == 40 && !written.isCompleted)
            stream.sourceEnded()
            loop.advance(by: .zero)
            #expect(stream.isOpen && written.succeeded)
        }
    }

    @Test("the time limit of writes runs before and after a source, and not while the source has nothing")
    func timeLimitAround() {
        var limits = StreamLimits()
        limits.writeTimeout = .seconds(10)
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            stream.write("a").ignoreFailure()
            let written = stream.write(Parts(["b"], pause: .seconds(60), on: loop))
            let last = stream.write("c")
            loop.advance(by: .seconds(9))
            transport.finishWrite()
            loop.advance(by: .seconds(60))
            transport.finishWrite()
            loop.advance(by: .seconds(60))
            #expect(written.succeeded && !last.isCompleted)
            loop.advance(by: .seconds(15))
            #expect(last.streamError == .timedOut(.write, after: .seconds(10), unread: 0, unsent: 1))
        }
    }

    @Test("the parts of a source are no idleness, and do not count as queued when they have left")
    func parts() {
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(60)
        withStream(limits: limits) { stream, transport, loop in
            let written = stream.write(Parts(["1", "2", "3"], pause: .seconds(55), on: loop))
            for part in 1...3 {
                loop.advance(by: .seconds(55))
                #expect(stream.bufferedBytes == 1)
                transport.finishWrite()
                #expect(stream.isOpen && stream.bufferedBytes == 0 && stream.bytesSent == part)
            }
            loop.advance(by: .seconds(55))
            #expect(written.succeeded)
        }
    }

    private func abort(_ streams: ByteStream...) { for stream in streams { stream.abort() } }

    private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
}

/// A source of some parts, each after a pause.
private final class Parts: OutboundSource {
    private var parts: [String]
    private let failure: (any Error)?
    private let pause: Duration
    private let loop: EventLoop
    private weak var stream: ByteStream?
    private(set) var hasBegun = false
    private(set) var isStopped = false

    init(_ parts: [String], failure: (any Error)? = nil, pause: Duration = .zero, on loop: EventLoop) {
        self.parts = parts
        self.failure = failure
        self.pause = pause
        self.loop = loop.core
    }

    func begin(on stream: ByteStream) {
        hasBegun = true
        self.stream = stream
        goOn()
    }

    func partWasSent() { goOn() }

    func stop() { isStopped = true }

    private func goOn() {
        loop.sleep(for: pause).whenSuccess { [self] in
            guard let stream, stream.isSending(self) else { return }
            guard !isStopped, !parts.isEmpty else { return stream.sourceEnded(failure: failure) }
            stream.send(part: Data(parts.removeFirst().utf8))
        }
    }
}

/// A source that sends past its stream what the test says.
private final class Past: OutboundSource {
    func begin(on stream: ByteStream) {}

    func partWasSent() {}

    func stop() {}
}
