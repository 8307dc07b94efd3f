import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

/// How the last bytes of a stream leave.
private enum Way: CaseIterable {
    case gathered, gatheredAndQueued, queued
}

/// What code does at the moment at which they have left.
private enum Step: CaseIterable {
    case shutsDown, closes, writes, writesAndShutsDown, writesAndCloses, aborts

    var writesMore: Bool { [.writes, .writesAndShutsDown, .writesAndCloses].contains(self) }
    var tellsTheEnd: Bool { self != .writes && self != .aborts }
    var closes: Bool { self == .closes || self == .writesAndCloses }

    func run(_ stream: ByteStream) {
        if writesMore { stream.write("tail").ignoreFailure() }
        switch self {
        case .shutsDown, .writesAndShutsDown: stream.shutdownWrite()
        case .closes, .writesAndCloses: stream.close()
        case .writes: break
        case .aborts: stream.abort()
        }
    }
}

struct LastWriteTests {
    @Test(
        "what is begun when the last bytes have left loses nothing, and tells the end once",
        arguments: Way.allCases, Step.allCases)
    fileprivate func begun(way: Way, step: Step) {
        withStream { stream, transport, loop in
            transport.isSocket = true
            if way != .gathered { transport.room = 0 }
            stream.gathersWrites = way != .queued
            var left = stream.write("head")
            if way != .queued { left = stream.write("") }
            left.whenSuccess(on: .immediate) { step.run(stream) }
            loop.advance(by: .zero)
            transport.finishAllWrites()
            loop.advance(by: .zero)
            transport.finishAllWrites()
            #expect(transport.sent == Data(step.writesMore ? "headtail" : "head"))
            #expect(transport.shutdowns == (step.tellsTheEnd ? 1 : 0))
            if step.tellsTheEnd { transport.finishShutdown() }
            transport.deliverEnd()
            transport.finishClose()
            loop.advance(by: .zero)
            if step.closes { #expect(stream.closed.succeeded) }
        }
    }

    @Test("a close that is begun when the end was told takes its steps once")
    func closedAtEnd() {
        withStream { stream, transport, loop in
            transport.isSocket = true
            stream.shutdownWrite().whenSuccess(on: .immediate) { stream.close() }
            transport.finishShutdown()
            #expect(transport.shutdowns == 1 && transport.wasReset == nil)
            transport.deliverEnd()
            #expect(transport.wasReset == false)
        }
    }

    @Test("an abort that is begun by what a close ends is the end")
    func abortedWithinClose() {
        withStream { stream, transport, loop in
            transport.isSocket = true
            stream.read().whenFailure(on: .immediate) { _ in stream.abort() }
            stream.close().ignoreFailure()
            #expect(transport.shutdowns == 0 && transport.wasReset == true)
        }
    }

    @Test("an abort that is begun by what waits for room to write is the end", arguments: [false, true])
    func abortedWithinWritable(closesBefore: Bool) {
        var limits = StreamLimits()
        (limits.writeHighWaterMark, limits.writeLowWaterMark) = (1, 1)
        withStream(limits: limits) { stream, transport, loop in
            transport.isSocket = true
            transport.room = 0
            stream.write("head").ignoreFailure()
            stream.writable.whenComplete(on: .immediate) { _ in stream.abort() }
            if closesBefore { stream.close().ignoreFailure() }
            if transport.wasReset == nil { transport.finishAllWrites() }
            #expect(transport.shutdowns == 0 && transport.wasReset == true)
        }
    }

    @Test("what is written by who hears of an abort fails", arguments: [false, true])
    func writtenWithinAbort(gathers: Bool) {
        withStream { stream, transport, loop in
            stream.gathersWrites = gathers
            var writes: [Future<Void>] = []
            stream.read().whenFailure(on: .immediate) { _ in writes = [stream.write("x"), stream.write("")] }
            stream.write("head").ignoreFailure()
            let before = transport.writes
            stream.abort()
            #expect(
                writes.count == 2 && writes.allSatisfy { $0.ignoreFailure().result != nil && !$0.succeeded })
            #expect(transport.writes == before)
        }
    }
}
