import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct MemoryTransportTests {
    @Test("a reader that stops holds the writer back, at the capacity and the reader's water mark")
    func backPressure() throws {
        var limits = StreamLimits()
        limits.readHighWaterMark = 1000
        limits.readLowWaterMark = 0
        limits.writeTimeout = nil
        try withPair(limits: limits, capacity: 2000) { (a, b, loop) throws in
            let first = try loop.run(
                until: {
                    a.write("x")
                    return b.read()
                }())
            #expect(first.count == 1)
            let write = a.write(Data(count: 10_000))
            loop.advance(by: .seconds(100))
            #expect(!write.isCompleted)
            #expect(a.bufferedBytes == 10_000 - 4000)
            #expect(try loop.run(until: b.read(exactly: 10_000))?.count == 10_000)
            try loop.run(until: write)
            #expect(a.bufferedBytes == 0)
        }
    }

    @Test("an abort resets the other end")
    func abort() throws {
        try withPair { (a, b, loop) throws in
            let read = b.read()
            a.abort()
            #expect(error(read, loop) as? MemoryStreamError == .connectionReset)
            #expect(error(b.closed, loop) as? MemoryStreamError == .connectionReset)
            #expect(error(a.closed, loop) == nil)
        }
    }

    @Test("what was sent before a close arrives; what comes to a closed end resets the other")
    func closed() throws {
        try withPair { (a, b, loop) throws in
            a.write("last words")
            try loop.run(until: a.close())
            #expect(try loop.run(until: b.readToEnd()) == Data("last words".utf8))
            b.write("too late")
            #expect(error(b.closed, loop) as? MemoryStreamError == .connectionReset)
        }
    }

    @Test(
        "an end that is closed before it has read everything hears the other out, as with a system's sockets")
    func closedUnread() throws {
        try withPair { (a, b, loop) throws in
            a.write("unread")
            loop.advance(by: .zero)
            b.write("answer")
            let close = b.close()
            #expect(try loop.run(until: a.readToEnd()) == Data("answer".utf8))
            #expect(!close.isCompleted)
            try loop.run(until: a.close())
            try loop.run(until: close)
        }
    }

    @Test("an end that goes on sending to a closed one is reset when the time for that is over")
    func closedForEver() throws {
        try withPair { (a, b, loop) throws in
            a.write("unread")
            try loop.run(until: b.close())
            #expect(try loop.run(until: a.readToEnd()).isEmpty)
            a.write("more")
            #expect(error(a.closed, loop) as? MemoryStreamError == .connectionReset)
        }
    }

    @Test("a write that waits for room fails by a reset, though bytes are unread")
    func resetWhileFull() throws {
        try withPair(capacity: 10) { (a, b, loop) throws in
            let write = a.write(Data(count: 100))
            b.write("unread")
            loop.advance(by: .zero)
            b.abort()
            #expect(error(write, loop) as? MemoryStreamError == .connectionReset)
        }
    }
}
