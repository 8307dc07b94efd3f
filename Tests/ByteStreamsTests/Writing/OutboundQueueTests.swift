import ByteStreams
import FoundationEssentials
import Futures
import Testing

struct OutboundQueueTests {
    @Test("a long list goes in batches, and completes with the last")
    func longList() {
        withStream { stream, transport, loop in
            transport.room = 0
            let texts = (0..<150).map { "\($0)," }
            let write = stream.write(texts.map { Data($0) })
            let next = stream.write("end")
            transport.finishWrite()
            transport.finishWrite()
            #expect(!write.isCompleted)
            transport.finishWrite()
            #expect(write.succeeded)
            #expect(next.succeeded)
            #expect(transport.batches == [64, 64, 23])
            #expect(transport.sent == Data(texts.joined() + "end"))
        }
    }

    @Test("a batch is not larger than what delays the first of its writes by little")
    func batchBytes() {
        withStream { stream, transport, loop in
            transport.room = 0
            for _ in 0..<10 { stream.write(Data(count: 100_000)) }
            transport.finishAllWrites()
            #expect(transport.batches == [1, 3, 3, 3])
            #expect(transport.sent.count == 1_000_000)
            transport.room = 0
            for _ in 0..<6 { stream.write(Data(count: 65_536)) }
            transport.finishAllWrites()
            #expect(transport.batches.suffix(3) == [1, 4, 1])
        }
    }

    @Test("cancelling a write that has not started takes its bytes back")
    func cancelNotStarted() {
        withStream { stream, transport, loop in
            transport.room = 0
            let first = stream.write("a")
            let second = stream.write("bb")
            let third = stream.write("ccc")
            #expect(stream.bufferedBytes == 6)
            #expect(second.cancel())
            #expect(second.wasCancelled)
            #expect(stream.bufferedBytes == 4)
            transport.finishAllWrites()
            #expect(first.succeeded && third.succeeded)
            #expect(transport.sent == Data("accc"))
        }
    }

    @Test("cancelling a write of which bytes have left, or are leaving, has no effect")
    func cancelStarted() {
        withStream { stream, transport, loop in
            transport.room = 1
            let first = stream.write("ab")
            first.cancel()
            #expect(!first.isCompleted)
            transport.finishWrite()
            #expect(first.succeeded)
            transport.room = 0
            let list = stream.write((0..<70).map { Data("\($0);") })
            list.cancel()
            transport.finishWrite()
            list.cancel()
            #expect(!list.isCompleted)
            transport.finishWrite()
            #expect(list.succeeded)
            #expect(transport.sent == Data("ab" + (0..<70).map { "\($0);" }.joined()))
        }
    }

    @Test("cancelling finds the write in a queue that has moved on")
    func cancelLate() {
        withStream { stream, transport, loop in
            transport.room = 0
            let writes = (0..<200).map { stream.write("\($0);") }
            transport.finishWrite()
            transport.finishWrite()
            transport.finishWrite()
            #expect(writes[197].cancel() && writes[197].wasCancelled)
            transport.finishAllWrites()
            #expect(transport.sent == Data((0..<200).map { $0 == 197 ? "" : "\($0);" }.joined()))
            for (index, write) in writes.enumerated() { #expect(write.succeeded == (index != 197)) }
        }
    }

    @Test("cancelling all that is queued behind a batch leaves nothing to write")
    func cancelAll() {
        withStream { stream, transport, loop in
            transport.room = 0
            let first = stream.write("a")
            let others = (0..<200).map { stream.write("\($0)") }
            for write in others { #expect(write.cancel()) }
            let empty = stream.write("")
            transport.finishWrite()
            #expect(first.succeeded && empty.succeeded)
            #expect(transport.batch == nil)
            #expect(transport.sent == Data("a"))
            #expect(stream.write("b").isCompleted == false)
            transport.finishWrite()
        }
    }

    @Test("a write of no buffers behind others can be cancelled as long as it waits")
    func cancelEmpty() {
        withStream { stream, transport, loop in
            transport.room = 0
            stream.write("a")
            let (empty, last) = (stream.write([] as [Data]), stream.write("b"))
            transport.finishWrite()
            #expect(!empty.isCompleted && empty.cancel() && empty.wasCancelled)
            transport.finishWrite()
            #expect(last.succeeded && transport.sent == Data("ab"))
        }
    }

    @Test("writes that were taken back count as what is left of them, not less")
    func cancelledTinyWrites() {
        var limits = StreamLimits()
        limits.writeCap = 1_000_000
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            stream.write("first")
            for _ in 0..<1_000 { stream.write("x").cancel() }
            var taken = 0
            while stream.isOpen, taken < 2_000 {
                stream.write("y").ignoreFailure()
                taken += 1
            }
            #expect((900..<1_100).contains(taken))
        }
    }

    @Test("many tiny writes count as what it takes to remember them", arguments: [1, 0])
    func tinyWrites(_ size: Int) {
        var limits = StreamLimits()
        limits.writeCap = 1_000_000
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            stream.write("first")
            let tiny = Data(count: size)
            var taken = 1
            while true {
                let write = stream.write([tiny, tiny])
                guard let error = write.streamError else {
                    taken += 1
                    continue
                }
                guard case .backpressureExceeded(let queued, 1_000_000) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect((1_000_000...1_001_000).contains(queued))
                break
            }
            #expect((1_600...1_900).contains(taken))
        }
    }

    @Test("tiny writes that have left, or were taken back, do not count any more")
    func tinyWritesLeave() {
        var limits = StreamLimits()
        limits.writeCap = 1_000_000
        withStream(limits: limits) { stream, transport, loop in
            for _ in 0..<10 {
                transport.room = 0
                stream.write("x")
                let writes = (0..<1_500).map { _ in stream.write("y") }
                #expect(writes.allSatisfy { !$0.isCompleted })
                transport.finishAllWrites()
                #expect(writes.allSatisfy { $0.succeeded })
            }
        }
    }
}
