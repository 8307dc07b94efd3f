import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct ReadingTests {
    @Test("read completes with the next bytes, in order")
    func readsInOrder() {
        withStream { stream, transport, loop in
            let first = stream.read()
            #expect(!first.isCompleted)
            transport.deliver("one")
            #expect(first.now == Data("one"))
            transport.deliver("two")
            #expect(stream.read().now == Data("two"))
        }
    }

    @Test("read completes with empty data, again and again, when the peer has finished")
    func emptyAtEnd() {
        withStream { stream, transport, loop in
            let last = stream.read()
            transport.deliverEnd()
            #expect(last.now == Data())
            #expect(stream.read().now == Data())
            #expect(transport.timesStarted == 1)
        }
    }

    @Test("bytes that came before the end are read before it")
    func bytesBeforeEnd() {
        withStream { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver("abc")
            transport.deliverEnd()
            #expect(first.now == Data("a"))
            #expect(stream.read().now == Data("bc"))
            #expect(stream.read().now == Data())
        }
    }

    @Test("a second read fails at once and leaves the first alone")
    func secondReadFails() {
        withStream { stream, transport, loop in
            let first = stream.read()
            #expect(stream.read().streamError == .readPending)
            #expect(stream.read(exactly: 2).streamError == .readPending)
            #expect(stream.read(until: Data("x")).streamError == .readPending)
            #expect(stream.readLine().streamError == .readPending)
            #expect(stream.readToEnd().streamError == .readPending)
            #expect(stream.forEachChunk { _ in }.streamError == .readPending)
            transport.deliver("x")
            #expect(first.now == Data("x"))
        }
    }

    @Test("a callback of a read never runs inside the call that completes it")
    func callbacksAreDeferred() {
        withStream { stream, transport, loop in
            var order: [String] = []
            loop.submit {
                transport.deliver("x")
                stream.read().whenComplete { _ in order.append("read") }
                order.append("after read")
            }.ignoreFailure()
            loop.advance(by: .zero)
            #expect(order == ["after read", "read"])
        }
    }

    @Test("what is disposed of when a read ends may begin the next one", arguments: [false, true])
    func readsFromCleanUp(afterCancelling: Bool) {
        withStream { stream, transport, loop in
            var next: Future<Data>?
            let first = stream.read()
            let watched = first.whilePending { Disposer { next = stream.read() } }
            loop.advance(by: .zero)
            if afterCancelling { first.cancel(.evenIfOthersWaiting) } else { transport.deliver("one") }
            #expect(watched.now == (afterCancelling ? nil : Data("one")))
            #expect(next?.isCompleted == false)
            transport.deliver("two")
            #expect(next?.now == Data("two"))
        }
    }

    @Test("reading starts with the first read and stays on")
    func readingStaysOn() {
        withStream { stream, transport, loop in
            #expect(transport.timesStarted == 0)
            for round in 0..<5 {
                let read = stream.read()
                transport.deliver("\(round)")
                #expect(read.now == Data("\(round)"))
            }
            #expect(transport.timesStarted == 1)
            #expect(transport.timesStopped == 0)
        }
    }

    @Test("reading pauses at the high water mark and resumes below the low one")
    func waterMarks() {
        var limits = StreamLimits()
        limits.readHighWaterMark = 10
        limits.readLowWaterMark = 4
        withStream(limits: limits) { stream, transport, loop in
            let first = stream.read()
            transport.deliver("0")
            #expect(first.now == Data("0"))
            transport.deliver("123456789")
            #expect(transport.isReading)
            transport.deliver("a")
            #expect(!transport.isReading)
            #expect(stream.read(exactly: 6).now == Data("123456"))
            #expect(!transport.isReading)
            #expect(stream.read(exactly: 1).now == Data("7"))
            #expect(transport.isReading)
            #expect(stream.read().now == Data("89a"))
        }
    }

    @Test("a read that needs more than the high water mark gets it")
    func longReadIgnoresMark() {
        var limits = StreamLimits()
        limits.readHighWaterMark = 10
        limits.readLowWaterMark = 4
        withStream(limits: limits) { stream, transport, loop in
            let read = stream.read(exactly: 100)
            for _ in 0..<9 { transport.deliver("0123456789") }
            #expect(transport.isReading)
            transport.deliver("0123456789")
            #expect(read.now??.count == 100)
            let first = stream.read(exactly: 1)
            transport.deliver("0123456789a")
            #expect(first.now == Data("0"))
            #expect(!transport.isReading)
            let second = stream.read(exactly: 20)
            #expect(transport.isReading)
            transport.deliver("bcdefghijklmnop")
            #expect(second.now == Data("123456789abcdefghijk"))
        }
    }

    @Test("the failure of the connection fails the read, after what had come")
    func failureAfterBytes() {
        withStream { stream, transport, loop in
            let first = stream.read(exactly: 1)
            transport.deliver("abc")
            transport.fail()
            #expect(first.now == Data("a"))
            #expect(stream.read(exactly: 3).error is Broken)
            #expect(stream.read().now == Data("bc"))
            #expect(stream.read().error is Broken)
            #expect(stream.readLine().error is Broken)
        }
    }

    @Test("what a transport has not delivered when it breaks can still be read, and nothing after an end")
    func undelivered() {
        for hasEnded in [false, true] {
            withStream { stream, transport, loop in
                let read = stream.read()
                if hasEnded { transport.deliverEnd() }
                transport.undelivered = [Data("ab"), Data("c")]
                transport.fail()
                #expect(hasEnded ? read.now == Data() : read.error is Broken)
                #expect(stream.bytesReceived == (hasEnded ? 0 : 3))
                if !hasEnded { #expect(stream.read(exactly: 3).now == Data("abc")) }
                #expect(stream.read().error is Broken)
            }
        }
    }

    @Test("a transport that cannot read fails the read")
    func cannotRead() {
        withStream { stream, transport, loop in
            transport.readError = Broken()
            #expect(stream.read().error is Broken)
            #expect(transport.wasReset == true)
        }
    }

    @Test("a large block is handed over uncopied, a small part of it is copied")
    func sharesLargeBlocks() {
        withStream { stream, transport, loop in
            let block = Data(repeating: 7, count: 10_000)
            let whole = stream.read()
            transport.deliver(block)
            #expect(address(of: whole.now) == address(of: block))
            transport.deliver(block)
            #expect(address(of: stream.read().now) == address(of: block))
            let half = stream.read(exactly: 5000)
            transport.deliver(block)
            #expect(address(of: half.now ?? nil) == address(of: block))
            let rest = stream.read().now
            #expect(rest?.count == 5000 && rest?.startIndex == 0)
            let small = stream.read(exactly: 4999)
            transport.deliver(block)
            #expect(address(of: small.now ?? nil) != address(of: block))
            #expect(stream.read().now?.startIndex == 0)
        }
    }

    private func address(of data: Data?) -> UInt? {
        guard let data else { return nil }
        return unsafe data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
}
