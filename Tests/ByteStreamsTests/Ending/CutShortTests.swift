import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// How a server ends a connection whose handler goes on.
struct CutShortTests {
    private func withSocket(_ body: (ByteStream, ScriptedTransport, EventLoop) throws -> Void) rethrows {
        try withStream { stream, transport, loop in
            transport.isSocket = true
            try body(stream, transport, loop)
        }
    }

    @Test("what was written still leaves, nothing more is read, and the peer is not heard out")
    func sends() {
        withSocket { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            let chunks = stream.forEachChunk { _ in }
            stream.cutShort()
            #expect(chunks.streamError == .connectionClosed && transport.wasReset == nil)
            transport.finishWrite()
            #expect(write.succeeded && transport.shutdowns == 1)
            transport.finishShutdown()
            #expect(transport.wasReset == false && !stream.hasLingered)
            transport.finishClose()
            #expect(stream.closed.succeeded)
        }
    }

    @Test("what has come and was not read is thrown away")
    func unread() {
        withSocket { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver("ab")
            #expect(first.succeeded)
            stream.cutShort()
            #expect(stream.read().streamError == .connectionClosed)
        }
    }

    @Test("what has not left in the time of a close is given up")
    func deadline() {
        withSocket { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            stream.cutShort()
            loop.advance(by: .seconds(5) - .nanoseconds(1))
            #expect(transport.wasReset == nil)
            loop.advance(by: .nanoseconds(1))
            #expect(transport.wasReset == true && write.streamError == .connectionClosed)
        }
    }

    @Test(
        "a connection that lingers is closed if its peer has got all, and else goes on lingering",
        arguments: [0, 1, 2])
    func lingering(unacknowledged: Int) {
        withSocket { stream, transport, loop in
            stream.close()
            transport.finishShutdown()
            transport.unacknowledgedBytes = unacknowledged
            stream.cutShort()
            #expect(transport.wasReset == (unacknowledged == 0 ? false : nil))
        }
    }

    @Test("a close by an owner that knows that the peer sends nothing more does not wait for it")
    func knownEnd() {
        withSocket { stream, transport, loop in
            stream.end(within: .seconds(5), hearingPeerOut: false)
            #expect(transport.wasReset == false && transport.shutdowns == 0)
        }
    }

    @Test("what a transport has lost fails the end of a stream that was closed, and of no other")
    func losing() {
        struct Lost: Error {}
        for end in ["closed", "aborted", "broken"] {
            withStream { stream, transport, loop in
                let closed = stream.closed
                switch end {
                case "closed": stream.close()
                case "aborted": stream.abort()
                default: transport.fail()
                }
                transport.finishClose(losing: Lost())
                switch end {
                case "closed": #expect(closed.error is Lost)
                case "aborted": #expect(closed.succeeded)
                default: #expect(closed.error is Broken)
                }
            }
        }
    }
}
