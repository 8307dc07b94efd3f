import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct PipeTests {
    /// Two streams, the first of which is to be piped to the other.
    private func withStreams(
        limits: StreamLimits = StreamLimits(),
        _ body: (ByteStream, ScriptedTransport, ByteStream, ScriptedTransport, EventLoop) throws -> Void
    ) rethrows {
        try withStream(limits: limits) { source, from, loop in
            let (target, to) = makeStream(on: loop, limits: limits)
            try body(source, from, target, to, loop)
            target.abort()
            to.finishClose()
        }
    }

    @Test("all bytes are passed on, then the end, and the number of bytes is known")
    func passesOn() {
        withStreams { source, from, target, to, loop in
            from.deliver("before ")
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            from.deliver("and after")
            #expect(to.sent == Data("before and after"))
            #expect(!pipe.isCompleted && to.shutdowns == 0)
            from.deliverEnd()
            #expect(to.shutdowns == 1 && !pipe.isCompleted)
            to.finishShutdown()
            #expect(pipe.now == 16)
        }
    }

    @Test("what the other stream takes at once is not copied, and of what it does not the rest is")
    func lendsBytes() {
        withStreams { source, from, target, to, loop in
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            from.deliver("all of it")
            #expect(from.spansLent == 1)
            to.room = 4
            from.deliver("some of it")
            #expect(from.spansLent == 1)
            to.finishAllWrites()
            #expect(to.sent == Data("all of itsome of it"))
            from.deliverEnd()
            to.finishShutdown()
            #expect(pipe.now == 19)
        }
    }

    @Test("bytes that were read ahead and an end that had come before are passed on too")
    func passesOnWhatHadCome() {
        withStreams { source, from, target, to, loop in
            _ = source.read()
            loop.advance(by: .zero)
            for text in ["one", "two", "three"] { from.deliver(text) }
            from.deliverEnd()
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            to.finishShutdown()
            #expect(to.sent == Data("twothree") && pipe.now == 8)
        }
    }

    @Test("the other stream stays open for writing if so asked, and the pipe waits for its last byte")
    func staysOpen() {
        withStreams { source, from, target, to, loop in
            to.room = 2
            let pipe = source.pipe(to: target, shuttingDownWrite: false)
            from.deliver("four")
            from.deliverEnd()
            loop.advance(by: .zero)
            #expect(!pipe.isCompleted)
            to.finishAllWrites()
            #expect(pipe.now == 4 && to.shutdowns == 0)
            #expect(target.write("more").isCompleted || to.batch != nil)
            to.finishAllWrites()
            #expect(to.sent == Data("fourmore"))
        }
    }

    @Test("a stream that takes nothing holds the source back, and lets it go on below the low mark")
    func backPressure() {
        var limits = StreamLimits()
        limits.readHighWaterMark = 10
        limits.readLowWaterMark = 5
        limits.writeHighWaterMark = 20
        limits.writeLowWaterMark = 5
        withStreams(limits: limits) { source, from, target, to, loop in
            to.room = 0
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            for _ in 0..<10 { from.deliver("0123456789") }
            #expect(target.bufferedBytes == 20)
            #expect(!from.isReading)
            to.finishAllWrites()
            loop.advance(by: .zero)
            while to.batch != nil {
                to.finishAllWrites()
                loop.advance(by: .zero)
            }
            #expect(from.isReading && to.sent.count == 100)
            from.deliverEnd()
            to.finishShutdown()
            #expect(pipe.now == 100)
        }
    }

    @Test("what breaks the source fails the pipe, after the bytes before, and the other stream is not ended")
    func sourceBreaks() {
        withStreams { source, from, target, to, loop in
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            from.deliver("part")
            from.fail()
            #expect(pipe.error as? Broken == Broken())
            #expect(to.sent == Data("part") && to.shutdowns == 0 && to.wasReset == nil)
        }
    }

    @Test("what breaks the other stream fails the pipe, though nothing comes from the source")
    func targetBreaks() {
        withStreams { source, from, target, to, loop in
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            to.fail()
            to.finishClose()
            #expect(pipe.error as? Broken == Broken())
            from.deliver("unread")
            #expect(source.read().now == Data("unread") && from.wasReset == nil)
        }
    }

    @Test(
        "what fails a write fails the pipe, when it is written at once, and when it is queued",
        arguments: [false, true])
    func writeFails(queued: Bool) {
        withStreams { source, from, target, to, loop in
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            if queued { to.room = 0 } else { to.writeError = Broken() }
            from.deliver("lost")
            if queued { to.finishWrite(failure: Broken()) }
            to.finishClose()
            #expect(pipe.error as? Broken == Broken())
        }
    }

    @Test(
        "a close on this side, of the source or of the other stream, is a failure of the pipe",
        arguments: [false, true])
    func closedHere(source closesSource: Bool) {
        withStreams { source, from, target, to, loop in
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            (closesSource ? source : target).close()
            (closesSource ? from : to).finishClose()
            loop.advance(by: .zero)
            #expect(pipe.streamError == .connectionClosed)
            #expect(to.shutdowns == 0)
        }
    }

    @Test("a write side that has been shut down, a pending read and a closed stream are refused")
    func refusals() {
        withStreams { source, from, target, to, loop in
            target.shutdownWrite()
            to.finishShutdown()
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            #expect(source.pipe(to: target).streamError == .readPending)
            from.deliver("x")
            #expect(pipe.streamError == .writeSideShutDown)
            target.close()
            to.finishClose()
            #expect(source.pipe(to: target).streamError == .connectionClosed)
            #expect(target.pipe(to: source).streamError == .connectionClosed)
        }
    }

    @Test("cancelling a pipe loses no byte: what was taken is written, what follows stays readable")
    func cancel() {
        withStreams { source, from, target, to, loop in
            to.room = 0
            let pipe = source.pipe(to: target)
            loop.advance(by: .zero)
            from.deliver("taken")
            #expect(pipe.cancel())
            from.deliver("left")
            to.finishAllWrites()
            loop.advance(by: .zero)
            #expect(pipe.wasCancelled && to.sent == Data("taken"))
            #expect(source.read().now == Data("left"))
        }
    }

    @Test("a pipe that has ended, or was cancelled, keeps nothing of its source", arguments: [false, true])
    func released(isCancelled: Bool) {
        withStream { target, to, loop in
            weak var source: ByteStream?
            do {
                let (stream, from) = makeStream(on: loop)
                source = stream
                let pipe = stream.pipe(to: target, shuttingDownWrite: false)
                loop.advance(by: .zero)
                if isCancelled { pipe.cancel() }
                from.deliverEnd()
                #expect(pipe.isCompleted)
                stream.abort()
                from.finishClose()
            }
            loop.advance(by: .zero)
            #expect(source == nil)
        }
    }

    @Test("a stream piped to itself sends everything back")
    func echo() {
        withStream { stream, transport, loop in
            let pipe = stream.pipe(to: stream)
            loop.advance(by: .zero)
            transport.deliver("echo")
            transport.deliverEnd()
            transport.finishShutdown()
            #expect(transport.sent == Data("echo") && pipe.now == 4)
        }
    }

    @Test("a proxy between two connections in memory passes on each half, and the end of each")
    func proxy() throws {
        let loop = EventLoop.virtual()
        do {
            let (client, near) = try MemoryStream.pair(on: loop, capacity: 1000)
            let (far, server) = try MemoryStream.pair(on: loop, capacity: 1000)
            let proxy = near.pipe(to: far).and(far.pipe(to: near))
            let (request, answer) = (Data(repeating: 1, count: 30_000), Data(repeating: 2, count: 40_000))
            client.write(request)
            client.shutdownWrite()
            #expect(try loop.run(until: server.readToEnd()) == request)
            server.write(answer)
            server.close()
            #expect(try loop.run(until: client.readToEnd()) == answer)
            #expect(try loop.run(until: proxy) == (30_000, 40_000))
            for stream in [client, near, far] { stream.close() }
            loop.advance(by: .zero)
        }
        expectNothingAlive(on: loop)
    }

    @Test("a stream of another loop traps")
    func otherLoop() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (a, _) = try MemoryStream.pair(on: .virtual())
            let (b, _) = try MemoryStream.pair(on: .virtual())
            _ = a.pipe(to: b)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "pipe(to:) was given a stream of another event loop. Make both streams on one loop."))
    }
}
