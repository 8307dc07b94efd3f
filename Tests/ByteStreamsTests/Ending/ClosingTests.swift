import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct ClosingTests {
    @Test("close without anything queued closes at once, without a reset")
    func closeIdle() {
        withStream { stream, transport, loop in
            let close = stream.close()
            #expect(transport.wasReset == false)
            #expect(!close.isCompleted)
            transport.finishClose()
            #expect(close.succeeded)
            #expect(stream.closed.succeeded)
        }
    }

    @Test("close sends what is queued first")
    func closeFlushes() {
        withStream { stream, transport, loop in
            transport.room = 0
            let writes = (0..<100).map { stream.write("\($0) ") }
            let close = stream.close()
            #expect(transport.wasReset == nil)
            transport.finishWrite()
            transport.finishWrite()
            #expect(transport.wasReset == nil)
            transport.finishWrite()
            #expect(transport.wasReset == false)
            for write in writes { #expect(write.succeeded) }
            #expect(transport.sent == Data((0..<100).map { "\($0) " }.joined()))
            transport.finishClose()
            #expect(close.succeeded)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("close waits for a shutdownWrite")
    func closeAfterShutdown() {
        withStream { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let shutdown = stream.shutdownWrite()
            stream.close()
            transport.finishWrite()
            #expect(transport.shutdowns == 1)
            #expect(transport.wasReset == nil)
            transport.finishShutdown()
            #expect(shutdown.succeeded)
            #expect(transport.wasReset == false)
        }
        withStream { stream, transport, loop in
            let shutdown = stream.shutdownWrite()
            stream.close()
            #expect(transport.wasReset == nil)
            transport.finishShutdown()
            #expect(shutdown.succeeded)
            #expect(transport.wasReset == false)
        }
    }

    @Test("a close that ends before the transport has answered a shutdownWrite completes that, too")
    func closeBeforeAnswer() {
        withStream { stream, transport, loop in
            let shutdown = stream.shutdownWrite()
            let close = stream.close(within: .seconds(1))
            loop.advance(by: .seconds(1))
            #expect(transport.wasReset == false && !shutdown.isCompleted)
            transport.finishClose()
            #expect(shutdown.succeeded && close.succeeded)
        }
    }

    @Test("close and abort throw away what has not been read", arguments: [true, false])
    func throwsUnreadAway(_ orderly: Bool) {
        withStream { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver("abc")
            transport.deliverEnd()
            #expect(first.now == Data("a"))
            if orderly { stream.close() } else { stream.abort() }
            #expect(stream.read().streamError == .connectionClosed)
            #expect(stream.readToEnd().streamError == .connectionClosed)
        }
    }

    @Test("the shutdown of the loop cuts a close short, without a report")
    func loopShutdown() {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { Issue.record("\($0)") }
        weak var weakStream: ByteStream?
        do {
            let (stream, transport) = makeStream(on: loop)
            weakStream = stream
            transport.room = 0
            let write = stream.write("a")
            let close = stream.close()
            loop.shutdown()
            #expect(write.error as? FutureError == .shutDown)
            #expect(close.error as? FutureError == .shutDown)
            transport.closeByItself()
        }
        #expect(weakStream == nil)
        expectNothingAlive(on: loop)
    }

    @Test(
        "what is not sent by the deadline is given up",
        arguments: [Duration.seconds(5), .milliseconds(1), .zero])
    func deadline(_ deadline: Duration) {
        withStream { stream, transport, loop in
            transport.room = 1
            let write = stream.write("abcd")
            transport.leftOfBatch = 1
            let close = deadline == .seconds(5) ? stream.close() : stream.close(within: deadline)
            if deadline > .zero {
                loop.advance(by: deadline - .nanoseconds(1))
                #expect(transport.wasReset == nil)
            }
            loop.advance(by: .nanoseconds(1))
            #expect(transport.wasReset == true)
            let error = StreamError.flushTimedOut(after: deadline, unsent: 2)
            #expect(write.streamError == error)
            #expect(!close.isCompleted)
            transport.finishClose()
            #expect(close.streamError == error)
            #expect(stream.closed.streamError == error)
            #expect(stream.write("a").streamError == .connectionClosed)
        }
    }

    @Test("a negative deadline fails, and closes nothing")
    func negativeDeadline() {
        withStream { stream, transport, loop in
            let close = stream.close(within: .seconds(-1))
            #expect(close.complaint == "close(within:) was given -1.0 seconds; give zero or more")
            #expect(stream.write("a").succeeded)
            #expect(transport.wasReset == nil)
        }
    }

    @Test("a deadline beyond all time is one that never comes")
    func hugeDeadline() {
        withStream { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let close = stream.close(within: .seconds(Int64.max))
            loop.advance(by: .seconds(1_000_000_000))
            #expect(transport.wasReset == nil)
            transport.finishWrite()
            transport.finishClose()
            #expect(close.succeeded)
        }
    }

    @Test("what comes while the rest is sent is thrown away, so that the peer can go on")
    func discardsWhileFlushing() {
        withStream { stream, transport, loop in
            transport.isSocket = true
            transport.room = 0
            stream.write("a")
            stream.close()
            #expect(transport.isReading)
            transport.deliver(Data(count: 1_000_000))
            #expect(transport.isReading)
            transport.deliverEnd()
            transport.finishWrite()
            #expect(transport.wasReset == false)
        }
    }

    @Test("a reset while the rest is sent fails close")
    func resetWhileFlushing() {
        withStream { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            let close = stream.close()
            transport.fail()
            #expect(write.error is Broken)
            transport.finishClose()
            #expect(close.error is Broken)
        }
    }

    @Test("abort resets at once and fails what is pending; closed succeeds")
    func abort() {
        withStream { stream, transport, loop in
            transport.room = 0
            let read = stream.read()
            let write = stream.write("a")
            let closed = stream.closed
            let abort = stream.abort()
            #expect(transport.wasReset == true)
            #expect(read.streamError == .connectionClosed)
            #expect(write.streamError == .connectionClosed)
            #expect(stream.bufferedBytes == 0)
            #expect(!closed.isCompleted)
            transport.finishClose()
            #expect(closed.succeeded && abort.succeeded)
        }
    }

    @Test("abort cuts a close short")
    func abortWhileFlushing() {
        withStream { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            let close = stream.close()
            stream.abort()
            #expect(transport.wasReset == true)
            #expect(write.streamError == .connectionClosed)
            transport.finishClose()
            #expect(close.succeeded)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("closing again, in whatever way and state, changes nothing")
    func idempotent() {
        let ends: [(ByteStream) -> Future<Void>] = [
            { $0.close() }, { $0.abort() }, { $0.close(within: .zero) },
        ]
        for first in ends {
            for second in ends {
                for waits in [true, false] {
                    withStream { stream, transport, loop in
                        let futures = [first(stream)] + (waits ? [second(stream)] : [])
                        transport.finishClose()
                        for future in futures + [first(stream), second(stream), stream.closed] {
                            #expect(future.succeeded)
                        }
                    }
                }
            }
        }
    }

    @Test(
        "calls after close fail with connectionClosed, while it closes and afterwards",
        arguments: [true, false])
    func callsAfterClose(_ orderly: Bool) {
        withStream { stream, transport, loop in
            transport.room = 0
            if orderly {
                stream.write("a")
                stream.close()
            } else {
                stream.abort()
            }
            for step in 0..<3 {
                #expect(stream.read().streamError == .connectionClosed)
                #expect(stream.read(exactly: 0).streamError == .connectionClosed)
                #expect(stream.read(exactly: 1).streamError == .connectionClosed)
                #expect(stream.read(until: Data("\n")).streamError == .connectionClosed)
                #expect(stream.readLine().streamError == .connectionClosed)
                #expect(stream.readToEnd().streamError == .connectionClosed)
                #expect(stream.forEachChunk { _ in }.streamError == .connectionClosed)
                #expect(stream.write(Data("a")).streamError == .connectionClosed)
                #expect(stream.write("").streamError == .connectionClosed)
                #expect(stream.write([1]).streamError == .connectionClosed)
                #expect(stream.write([Data("a")]).streamError == .connectionClosed)
                #expect(stream.shutdownWrite().streamError == .connectionClosed)
                #expect(stream.writable.streamError == .connectionClosed)
                if step == 0, orderly { transport.finishWrite() }
                if step == 1 { transport.finishClose() }
            }
        }
    }

    @Test("each pending future completes exactly once, and before closed", arguments: End.allCases)
    func allBeforeClosed(_ end: End) {
        var limits = StreamLimits()
        limits.writeHighWaterMark = 1
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            var completed: [String: Int] = [:]
            var order: [String] = []
            func watch<Value>(_ name: String, _ future: Future<Value>) {
                future.whenComplete { _ in
                    completed[name, default: 0] += 1
                    order.append(name)
                }
            }
            watch("closed", stream.closed)
            watch("read", stream.read(exactly: 10))
            for index in 0..<70 { watch("write \(index)", stream.write("\(index)")) }
            watch("empty write", stream.write(""))
            watch("writable", stream.writable)
            watch("shutdown", stream.shutdownWrite())
            watch("close", end.apply(to: stream, transport, loop))
            transport.finishAllWritesAndShutdown()
            transport.finishClose()
            loop.advance(by: .zero)
            #expect(completed.count == 76)
            #expect(completed.values.allSatisfy { $0 == 1 })
            #expect(order.suffix(2).sorted() == ["close", "closed"])
        }
    }

    enum End: CaseIterable {
        case close, abort, deadline, failure, writeFailure, byTheLoop

        func apply(to stream: ByteStream, _ transport: ScriptedTransport, _ loop: EventLoop) -> Future<Void> {
            switch self {
            case .close:
                return stream.close()
            case .abort:
                return stream.abort()
            case .deadline:
                defer { loop.advance(by: .seconds(5)) }
                return stream.close()
            case .failure:
                transport.fail()
            case .writeFailure:
                transport.finishWrite(failure: Broken())
            case .byTheLoop:
                defer { transport.closeByItself() }
                return stream.closed
            }
            return stream.close()
        }
    }

    @Test("a connection that the loop closes fails what is pending with shutDown")
    func closedByTheLoop() {
        withStream { stream, transport, loop in
            let read = stream.read()
            let closed = stream.closed
            transport.closeByItself()
            #expect(read.error as? FutureError == .shutDown)
            #expect(closed.error as? FutureError == .shutDown)
            #expect(stream.write("a").error as? FutureError == .shutDown)
        }
    }

    @Test("cancelling closed, or what close returned, changes nothing for others")
    func cancelClosed() {
        withStream { stream, transport, loop in
            let closed = stream.closed
            let timed = stream.closed.timeout(after: .seconds(1))
            closed.cancel()
            loop.advance(by: .seconds(1))
            #expect(timed.error as? FutureError == .timedOut(after: .seconds(1)))
            stream.close().cancel()
            transport.finishClose()
            #expect(closed.succeeded)
        }
    }

    @Test("the failure of a connection that nobody asks about is not reported")
    func failureIsNotReported() {
        withStream { stream, transport, loop in
            transport.room = 0
            _ = stream.read()
            stream.write("a")
            stream.shutdownWrite()
            _ = stream.closed
            transport.fail()
            stream.write("b")
            _ = stream.read()
            transport.finishClose()
            _ = stream.closed
        }
    }

    @Test(
        "closures that close, write or abort when they are released do no harm",
        arguments: End.allCases, [true, false])
    func reentrantRelease(_ end: End, abort: Bool) {
        final class OnRelease {
            let action: () -> Void
            init(_ action: @escaping () -> Void) { self.action = action }
            deinit { action() }
        }
        withStream { stream, transport, loop in
            transport.room = 0
            var writes: [Future<Void>] = []
            let act = {
                stream.write("late")
                writes.popLast()?.cancel()
                stream.read().ignoreFailure()
                if abort { stream.abort() } else { stream.close() }
            }
            stream.read().whenSuccess { [watcher = OnRelease(act)] _ in _ = watcher }
            for index in 0..<100 {
                let write = stream.write("\(index)")
                switch index % 4 {
                case 0: write.whenFailure { [watcher = OnRelease(act)] _ in _ = watcher }
                case 1: write.whenSuccess { [watcher = OnRelease(act)] in _ = watcher }
                default: writes.append(write)
                }
            }
            stream.writable.whenSuccess { [watcher = OnRelease(act)] in _ = watcher }
            end.apply(to: stream, transport, loop).ignoreFailure()
            transport.finishAllWritesAndShutdown()
            transport.finishClose()
            writes = []
        }
    }
}

extension ScriptedTransport {
    func finishAllWritesAndShutdown() {
        if wasReset == nil { finishAllWrites() }
        if wasReset == nil, shutdowns > 0 { finishShutdown() }
    }
}
