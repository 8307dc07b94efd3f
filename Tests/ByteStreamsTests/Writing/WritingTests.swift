import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct WritingTests {
    @Test("a write that the system takes at once has completed when it returns")
    func takenAtOnce() {
        withStream { stream, transport, loop in
            #expect(stream.write(Data("a")).succeeded)
            #expect(stream.write("bä").succeeded)
            #expect(stream.write([UInt8(ascii: "c")]).succeeded)
            #expect(stream.write([Data("d"), Data(), Data("e")]).succeeded)
            #expect(stream.write(Data("xxf").dropFirst(2)).succeeded)
            #expect(stream.write([Data("g")]).succeeded)
            #expect(transport.sent == Data("abäcdefg"))
            #expect(transport.batches.isEmpty && stream.bytesSent == 9)
        }
    }

    @Test("what the system does not take is queued, and sent in order")
    func queued() {
        withStream { stream, transport, loop in
            transport.room = 2
            var completed: [Int] = []
            for (index, text) in ["abc", "d", "ef", "ghi"].enumerated() {
                stream.write(text).whenSuccess { completed.append(index) }
            }
            #expect(transport.sent == Data("ab"))
            #expect(stream.bufferedBytes == 7)
            transport.finishWrite()
            #expect(completed == [0])
            #expect(stream.bufferedBytes == 6)
            transport.finishWrite()
            #expect(completed == [0, 1, 2, 3])
            #expect(stream.bufferedBytes == 0)
            #expect(transport.sent == Data("abcdefghi"))
            #expect(transport.batches == [1, 3])
            transport.room = 1
            #expect(stream.write("j").succeeded)
        }
    }

    @Test("a list is one vectored write, and what is left of it another", arguments: 0...9)
    func vectored(_ room: Int) {
        withStream { stream, transport, loop in
            transport.room = room
            let write = stream.write([Data("abc"), Data(), Data("xdef").dropFirst(), Data("ghi")])
            #expect(write.isCompleted == (room == 9))
            #expect(stream.bufferedBytes == 9 - room)
            if room < 9 { transport.finishWrite() }
            #expect(write.succeeded)
            #expect(transport.sent == Data("abcdefghi"))
            #expect(transport.batches.count == (room < 9 ? 1 : 0))
        }
    }

    @Test("an empty write completes when all earlier ones have")
    func emptyWrites() {
        withStream { stream, transport, loop in
            #expect(stream.write(Data()).succeeded)
            #expect(stream.write("").succeeded)
            #expect(stream.write([] as [UInt8]).succeeded)
            #expect(stream.write([] as [Data]).succeeded)
            #expect(stream.write([Data(), Data()]).succeeded)
            transport.room = 0
            var order: [String] = []
            stream.write("a").whenSuccess { order.append("a") }
            stream.write("").whenSuccess { order.append("empty") }
            stream.write([Data(), Data()]).whenSuccess { order.append("empty list") }
            #expect(order.isEmpty)
            transport.finishWrite()
            #expect(order == ["a", "empty", "empty list"])
            #expect(transport.batches == [1])
        }
    }

    @Test("a write that times out before it starts is never sent")
    func timeout() {
        withStream { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let late = stream.write("b").timeout(after: .seconds(1))
            loop.advance(by: .seconds(1))
            #expect(late.error as? FutureError == .timedOut(after: .seconds(1)))
            transport.finishAllWrites()
            #expect(transport.sent == Data("a"))
        }
    }

    @Test("writable is pending from the high water mark down to the low one")
    func waterMarks() {
        var limits = StreamLimits()
        limits.writeHighWaterMark = 10
        limits.writeLowWaterMark = 4
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            stream.write("123456789")
            #expect(stream.writable.succeeded)
            stream.write("0")
            let writable = stream.writable
            writable.cancel()
            #expect(!writable.isCompleted)
            stream.write("abcd")
            transport.finishWrite()
            #expect(stream.bufferedBytes == 5)
            #expect(!writable.isCompleted)
            transport.finishWrite()
            #expect(writable.succeeded)
            stream.write("0123456789")
            stream.write("abc")
            let again = stream.writable
            transport.finishWrite()
            #expect(stream.bufferedBytes == 3)
            #expect(again.succeeded)
            stream.write("0123456789")
            transport.finishWrite()
            stream.write("abcd")
            let atMark = stream.writable
            transport.finishWrite()
            #expect(stream.bufferedBytes == 4)
            #expect(!atMark.isCompleted)
            transport.finishWrite()
            #expect(atMark.succeeded)
        }
    }

    @Test("a cancelled write counts no more against the water mark")
    func cancelledWriteFreesRoom() {
        var limits = StreamLimits()
        limits.writeHighWaterMark = 10
        limits.writeLowWaterMark = 4
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let large = stream.write("0123456789")
            let writable = stream.writable
            #expect(!writable.isCompleted)
            large.cancel()
            #expect(writable.succeeded)
        }
    }

    @Test("bufferedBytes counts what the transport has sent of its batch")
    func bufferedBytes() {
        withStream { stream, transport, loop in
            transport.room = 0
            stream.write("0123456789")
            stream.write("abc")
            #expect(stream.bufferedBytes == 13)
            transport.leftOfBatch = 4
            #expect(stream.bufferedBytes == 9)
        }
    }

    @Test("a write of any size is taken up to the cap; above it, it fails and the connection is aborted")
    func cap() {
        var limits = StreamLimits()
        limits.writeCap = 10
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            let closed = stream.closed
            var failures: [String] = []
            let first = stream.write("0123456789")
            let second = stream.write(String(repeating: "x", count: 100))
            #expect(!second.isCompleted)
            for write in [first, second] { write.whenFailure { failures.append("\($0)") } }
            let error = StreamError.backpressureExceeded(queued: 110, limit: 10)
            #expect(stream.write("y").streamError == error)
            #expect(transport.wasReset == true)
            #expect(stream.write("z").streamError == error)
            #expect(stream.read().streamError == error)
            loop.advance(by: .zero)
            #expect(failures == ["\(error)", "\(error)"])
            transport.finishClose()
            #expect(closed.streamError == error)
        }
    }

    @Test("with a cap of zero, one write is taken at a time")
    func noCap() {
        var limits = StreamLimits()
        limits.writeCap = 0
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            let first = stream.write("a")
            #expect(!first.isCompleted && stream.isOpen)
            transport.finishWrite()
            #expect(first.succeeded && !stream.write("b").isCompleted)
            #expect(stream.write("c").streamError == .backpressureExceeded(queued: 1, limit: 0))
        }
    }

    @Test("the failure of a write breaks the connection", arguments: [true, false])
    func writeFails(_ atOnce: Bool) {
        withStream { stream, transport, loop in
            let read = stream.read()
            if atOnce { transport.writeError = Broken() } else { transport.room = 0 }
            let write = stream.write("a")
            let later = stream.write("b")
            if !atOnce { transport.finishWrite(failure: Broken()) }
            for future in [
                write, later, stream.closed, stream.writable, stream.shutdownWrite(), stream.write("c"),
            ] {
                transport.finishClose()
                #expect(future.error is Broken)
            }
            #expect(read.error is Broken)
            #expect(transport.wasReset == true)
        }
    }

    @Test("shutdownWrite comes after what was written, and leaves reading on")
    func shutdown() {
        withStream { stream, transport, loop in
            transport.room = 0
            let write = stream.write("a")
            let shutdown = stream.shutdownWrite()
            let again = stream.shutdownWrite()
            shutdown.cancel()
            #expect(stream.write("b").streamError == .writeSideShutDown)
            #expect(stream.write("").streamError == .writeSideShutDown)
            #expect(stream.write([Data("b")]).streamError == .writeSideShutDown)
            #expect(transport.shutdowns == 0)
            transport.finishWrite()
            #expect(write.succeeded && !shutdown.isCompleted)
            #expect(transport.shutdowns == 1)
            transport.finishShutdown()
            #expect(shutdown.succeeded && again.succeeded)
            #expect(stream.shutdownWrite().succeeded)
            let read = stream.read()
            transport.deliver("x")
            #expect(read.now == Data("x"))
        }
    }

    @Test("the end of what the peer sends leaves our side open")
    func peerFinishes() {
        withStream { stream, transport, loop in
            let read = stream.read()
            transport.deliverEnd()
            #expect(read.now == Data())
            #expect(stream.write("answer").succeeded)
            let shutdown = stream.shutdownWrite()
            transport.finishShutdown()
            #expect(shutdown.succeeded)
            #expect(transport.wasReset == nil)
        }
    }

    @Test("a shutdown that is under way fails with the connection")
    func shutdownIsCut() {
        withStream { stream, transport, loop in
            let shutdown = stream.shutdownWrite()
            transport.fail()
            #expect(shutdown.error is Broken)
            transport.finishClose()
        }
    }

    @Test("a shutdown that fails breaks the connection")
    func shutdownFails() {
        withStream { stream, transport, loop in
            let shutdown = stream.shutdownWrite()
            transport.finishShutdown(failure: Broken())
            #expect(shutdown.error is Broken)
            #expect(transport.wasReset == true)
        }
    }
}
