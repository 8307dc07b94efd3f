import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct SequencesTests {
    @Test("the chunks of a stream come to a for loop until the peer has finished")
    func chunks() {
        withStream { stream, transport, loop in
            var seen: [String] = []
            let done = Future(on: loop) {
                for try await chunk in stream.chunks { seen.append(String(decoding: chunk, as: UTF8.self)) }
            }
            for text in ["one", "two"] {
                loop.advance(by: .zero)
                transport.deliver(text)
            }
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(done.succeeded)
            #expect(seen == ["one", "two"])
        }
    }

    @Test("the lines of a stream come to a for loop, the last one unterminated")
    func lines() {
        withStream { stream, transport, loop in
            var seen: [String] = []
            let done = Future(on: loop) {
                for try await line in stream.lines() { seen.append(String(decoding: line, as: UTF8.self)) }
            }
            transport.deliver("one\r\ntw")
            loop.advance(by: .zero)
            transport.deliver("o\nthree")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(done.succeeded)
            #expect(seen == ["one", "two", "three"])
        }
    }

    @Test("while the consumer of the chunks is busy the peer is held back")
    func backPressure() {
        var limits = StreamLimits()
        limits.readHighWaterMark = 6
        withStream(limits: limits) { stream, transport, loop in
            let busy = loop.makePromise(of: Void.self)
            let done = Future(on: loop) {
                for try await _ in stream.chunks { try await busy.future.value }
            }
            loop.advance(by: .zero)
            for _ in 0..<4 { transport.deliver("four") }
            loop.advance(by: .zero)
            #expect(!transport.isReading)
            busy.succeed()
            loop.advance(by: .zero)
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(done.succeeded)
        }
    }

    @Test("what follows a break, and what comes while the task is cancelled, stays readable")
    func losesNothing() {
        withStream { stream, transport, loop in
            let first = Future(on: loop) {
                for try await line in stream.lines() { return line }
                return Data()
            }
            loop.advance(by: .zero)
            transport.deliver("one\ntwo\nthr")
            loop.advance(by: .zero)
            #expect(first.now == Data("one"))
            let cancelled = Future(on: loop) {
                var seen: [Data] = []
                do {
                    for try await line in stream.lines() { seen.append(line) }
                } catch {}
                #expect(seen == [Data("two")])
            }
            loop.advance(by: .zero)
            #expect(cancelled.cancel())
            loop.advance(by: .zero)
            transport.deliver("ee\n")
            let rest = stream.readLine()
            loop.advance(by: .zero)
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(rest.now == Data("three"))
        }
    }

    @Test("who iterates beside a read is refused, and the read gets its bytes")
    func besideARead() {
        withStream { stream, transport, loop in
            let read = stream.read(exactly: 3)
            let refused = [
                Future(on: loop) { for try await _ in stream.chunks {} },
                Future(on: loop) { for try await _ in stream.lines() {} },
            ]
            transport.deliver("on")
            loop.advance(by: .zero)
            for future in refused { #expect(future.streamError == .readPending) }
            #expect(!read.isCompleted)
            transport.deliver("e")
            loop.advance(by: .zero)
            #expect(read.now == Data("one".utf8))
        }
    }

    @Test("the chunks of a stream end with what breaks it")
    func breaks() {
        withStream { stream, transport, loop in
            let done = Future(on: loop) {
                for try await _ in stream.chunks {}
            }
            loop.advance(by: .zero)
            transport.fail()
            loop.advance(by: .zero)
            #expect(done.error as? Broken == Broken())
        }
    }
}
