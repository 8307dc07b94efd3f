import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What a close does for a peer that has not finished: over a socket, the next byte of it would be answered by a reset.
struct LingeringTests {
    @Test(
        "a peer that has not finished is told, and heard out, so that no reset takes from it what it was sent",
        arguments: [true, false])
    func lingers(hasUnread: Bool) {
        withSocket { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver(hasUnread ? "abc" : "a")
            #expect(first.succeeded)
            stream.write("answer")
            let close = stream.close()
            #expect(transport.wasReset == nil && transport.shutdowns == 1)
            transport.finishShutdown()
            #expect(stream.hasLingered)
            transport.deliver(Data(count: 100_000))
            #expect(transport.wasReset == nil && transport.isReading)
            transport.deliverEnd()
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(close.succeeded)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test(
        "a stream that is closed and dropped at once lives on to hear its peer out", arguments: [true, false])
    func dropped(isTold: Bool) {
        let loop = EventLoop.virtual()
        let transport: ScriptedTransport
        do {
            let stream: ByteStream
            (stream, transport) = makeStream(on: loop)
            transport.isSocket = true
            if isTold {
                stream.shutdownWrite()
                transport.finishShutdown()
            }
            stream.close()
        }
        if !isTold { transport.finishShutdown() }
        #expect(transport.stream != nil && transport.isReading)
        loop.advance(by: .seconds(5))
        #expect(transport.wasReset == false)
        transport.finishClose()
        loop.advance(by: .zero)
        #expect(transport.stream == nil)
        expectNothingAlive(on: loop)
    }

    @Test("a peer that has finished is neither told nor waited for", arguments: [true, false])
    func finished(isKnown: Bool) {
        withSocket { stream, transport, loop in
            if isKnown { #expect(!stream.read().isCompleted) }
            transport.deliverEnd()
            stream.close()
            #expect(transport.shutdowns == 0 && transport.timesStarted == (isKnown ? 1 : 0))
            #expect(transport.wasReset == false && !stream.hasLingered)
        }
    }

    @Test(
        "what waits in the transport, or comes while the rest is sent, is heard out as well",
        arguments: [true, false])
    func lingersFor(_ waits: Bool) {
        withSocket { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            if waits { transport.deliver("unread") }
            stream.close()
            if !waits { transport.deliver("late") }
            transport.finishWrite()
            #expect(transport.shutdowns == 1)
            transport.finishShutdown()
            #expect(transport.wasReset == nil)
            transport.deliverEnd()
            #expect(transport.wasReset == false)
        }
    }

    @Test("one that does not finish is waited for until the deadline of the close")
    func deadline() {
        withSocket { stream, transport, loop in
            let close = stream.close()
            transport.finishShutdown()
            loop.advance(by: .seconds(5) - .nanoseconds(1))
            #expect(transport.wasReset == nil)
            loop.advance(by: .nanoseconds(1))
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(close.succeeded)
        }
    }

    @Test("what a peer has not acknowledged at the deadline is reported", arguments: [0, 1, 2, 288_000])
    func unacknowledged(bytes: Int) {
        withSocket { stream, transport, loop in
            let close = stream.close(within: .seconds(1))
            transport.finishShutdown()
            // The end that it was told is one of them.
            transport.unacknowledgedBytes = bytes
            loop.advance(by: .seconds(1))
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(close.streamError == (bytes < 2 ? nil : .unacknowledged(bytes: bytes - 1)))
        }
    }

    @Test(
        "a peer that resets instead of finishing has got what it has acknowledged", arguments: [true, false])
    func reset(isAcknowledged: Bool) {
        withSocket { stream, transport, loop in
            let close = stream.close()
            transport.finishShutdown()
            transport.unacknowledgedBytes = isAcknowledged ? 0 : 10
            transport.fail()
            #expect(transport.wasReset == false)
            transport.finishClose()
            if isAcknowledged { #expect(close.succeeded) } else { #expect(close.error is Broken) }
        }
    }

    @Test("more than so many bytes are not thrown away, counted from the close, once all is sent")
    func discardLimit() {
        withSocket(limits(\.closeDiscardLimit, 1000)) { stream, transport, loop in
            let read = stream.read()
            transport.deliver(Data(count: 5000))
            #expect(read.now?.count == 5000)
            stream.close()
            transport.finishShutdown()
            transport.deliver(Data(count: 1000))
            #expect(transport.wasReset == nil)
            transport.deliver("x")
            #expect(transport.wasReset == false)
        }
        withSocket(limits(\.closeDiscardLimit, 1000)) { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            stream.close()
            transport.deliver(Data(count: 2000))
            #expect(transport.wasReset == nil && transport.isReading)
            transport.finishWrite()
            #expect(write.succeeded)
            transport.finishShutdown()
            #expect(transport.wasReset == false)
        }
    }

    @Test("of more than so many of a loop the one that has lingered longest is reset, and says so")
    func most() {
        var limits = StreamLimits()
        limits.maxLingering = 2
        let loop = EventLoop.virtual()
        let streams = (0..<6).map { _ in makeStream(on: loop, limits: limits) }
        func close(_ index: Int) -> Future<Void> {
            streams[index].transport.isSocket = true
            let close = streams[index].stream.close()
            streams[index].transport.finishShutdown()
            return close
        }
        let first = close(0)
        _ = (close(1), streams[1].transport.deliverEnd())
        _ = close(2)
        #expect(streams[0].transport.wasReset == nil)
        _ = close(3)
        #expect(streams.map(\.transport.wasReset) == [true, false, nil, nil, nil, nil])
        streams[0].transport.finishClose()
        #expect(
            "\(first.streamError!)"
                == "the connection was reset while it waited for its peer to finish: more than 2 connections "
                + "of the loop waited like that; raise StreamLimits.maxLingering, or let peers finish first")
        _ = close(4)
        #expect(streams[2].transport.wasReset == true)
        _ = close(5)
        #expect(streams[3].transport.wasReset == true && streams[4].transport.wasReset == nil)
        for (_, transport) in streams {
            if transport.wasReset == nil { transport.deliverEnd() }
            transport.finishClose()
        }
    }

    @Test("none lingers where none may: the peer is told, and that is all")
    func none() {
        withSocket(limits(\.maxLingering, 0)) { stream, transport, loop in
            stream.close()
            #expect(transport.shutdowns == 1)
            transport.finishShutdown()
            #expect(transport.wasReset == false && !stream.hasLingered)
        }
    }

    @Test("one lingers where one may")
    func one() {
        withSocket(limits(\.maxLingering, 1)) { stream, transport, loop in
            stream.close()
            transport.finishShutdown()
            #expect(transport.wasReset == nil && stream.hasLingered)
        }
    }

    @Test("after shutdownWrite a close needs no second one to hear the peer out")
    func afterShutdown() {
        withSocket { stream, transport, loop in
            stream.shutdownWrite()
            transport.finishShutdown()
            stream.close()
            #expect(transport.shutdowns == 1 && transport.wasReset == nil && transport.isReading)
            stream.abort()
            #expect(transport.wasReset == true)
        }
    }

    @Test("an idle connection is heard out too, and fails with the limit")
    func idle() {
        withSocket(limits(\.idleTimeout, .seconds(1))) { stream, transport, loop in
            let read = stream.read()
            loop.advance(by: .seconds(2))
            let error = StreamError.timedOut(.idle, after: .seconds(1), unread: 0, unsent: 0)
            #expect(read.streamError == error)
            #expect(transport.shutdowns == 1 && transport.wasReset == nil)
            transport.finishShutdown()
            transport.deliver("late")
            #expect(stream.write("a").streamError == error)
            transport.deliverEnd()
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(stream.closed.streamError == error)
        }
    }

    @Test(
        "where the owner wants to know, a close waits for what is on its way to a peer that has finished",
        arguments: [true, false])
    func acknowledged(atLast: Bool) {
        final class Owner: StreamOwner {
            var hasEnded = false
            let wantsAcknowledgement = true
            func streamLingers(_ stream: ByteStream) {}
            func streamDidClose(_ stream: ByteStream) { hasEnded = true }
        }
        withSocket { stream, transport, loop in
            let owner = Owner()
            stream.belong(to: owner)
            stream.write("a")
            transport.unacknowledgedBytes = 1
            transport.deliverEnd()
            let close = stream.close()
            loop.advance(by: .seconds(1))
            #expect(transport.wasReset == nil)
            if atLast {
                transport.unacknowledgedBytes = 0
                loop.advance(by: .milliseconds(20))
                #expect(transport.wasReset == false)
            }
            loop.advance(by: .seconds(4))
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(close.streamError == (atLast ? nil : .unacknowledged(bytes: 1)))
            #expect(owner.hasEnded)
        }
    }

    @Test("a close that sent all resets nothing when time runs out", arguments: [true, false])
    func endNotTold(hasAll: Bool) {
        withSocket { stream, transport, loop in
            let close = stream.close()
            transport.unacknowledgedBytes = hasAll ? 0 : 1
            loop.advance(by: .seconds(5))
            #expect(transport.wasReset == false)
            transport.finishClose()
            #expect(close.streamError == (hasAll ? nil : .unacknowledged(bytes: 1)))
        }
    }

    @Test("cut off, a peer that has got all is not reset", arguments: [true, false], [true, false])
    func cutOff(hasAll: Bool, knowsTheEnd: Bool) {
        withSocket { stream, transport, loop in
            stream.close()
            if knowsTheEnd { transport.finishShutdown() }
            transport.unacknowledgedBytes = hasAll ? 0 : 1
            stream.cutOff()
            #expect(transport.wasReset == !hasAll)
        }
    }

    @Test("cut off, a connection that is open or has bytes unsent is reset", arguments: [false, true])
    func cutOffUnsent(closes: Bool) {
        withSocket { stream, transport, loop in
            transport.room = closes ? 0 : .max
            let write = stream.write("a").ignoreFailure()
            if closes { stream.close() }
            stream.cutOff()
            #expect(transport.wasReset == true && write.succeeded == !closes)
        }
    }

    @Test("in memory, a peer gets all that it was sent, though it sends more after the close")
    func inMemory() throws {
        let loop = EventLoop.virtual()
        let (server, client) = try MemoryStream.pair(on: loop)
        let answer = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        server.write(answer)
        let close = server.close()
        loop.advance(by: .milliseconds(50))
        client.write("late")
        loop.advance(by: .milliseconds(50))
        let all = client.readToEnd()
        loop.advance(by: .zero)
        #expect(all.now == answer)
        #expect(!close.isCompleted)
        client.close()
        loop.advance(by: .zero)
        #expect(close.succeeded)
    }

    private func limits<Value>(_ limit: WritableKeyPath<StreamLimits, Value>, _ value: Value) -> StreamLimits
    {
        var limits = StreamLimits()
        limits[keyPath: limit] = value
        return limits
    }

    private func withSocket(
        _ limits: StreamLimits = StreamLimits(),
        _ body: (ByteStream, ScriptedTransport, EventLoop) throws -> Void
    ) rethrows {
        try withStream(limits: limits) { stream, transport, loop in
            transport.isSocket = true
            try body(stream, transport, loop)
        }
    }
}
