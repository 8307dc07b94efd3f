import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct MessageReadTests {
    @Test("a read of messages and other reads exclude each other")
    func pending() {
        withStream { stream, transport, loop in
            let first = stream.readMessage(decodedBy: SemicolonDecoder())
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).streamError == .readPending)
            #expect(
                stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in }.streamError == .readPending)
            first.cancel()
            let loops = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in }
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).streamError == .readPending)
            loops.cancel()
            stream.abort()
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).streamError == .connectionClosed)
        }
    }

    @Test("a cancelled read of a message loses no byte")
    func cancelled() {
        withStream { stream, transport, loop in
            let read = stream.readMessage(decodedBy: SemicolonDecoder())
            transport.deliver("ab")
            read.cancel()
            #expect(read.wasCancelled)
            #expect(stream.read(exactly: 1).now == Data("a"))
            let next = stream.readMessage(decodedBy: SemicolonDecoder())
            transport.deliver("c;d")
            #expect(next.now == "bc")
            #expect(stream.read().now == Data("d"))
        }
    }

    @Test("reads of messages follow other reads, and other reads follow them")
    func mixed() {
        withStream { stream, transport, loop in
            let line = stream.readLine()
            transport.deliver("one\ntwo;three\nfour;")
            #expect(line.now == Data("one"))
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).now == "two")
            #expect(stream.readLine().now == Data("three"))
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).now == "four")
            transport.deliverEnd()
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).now == .some(nil))
            #expect(stream.readMessage(decodedBy: SemicolonDecoder()).now == .some(nil))
        }
    }
}
